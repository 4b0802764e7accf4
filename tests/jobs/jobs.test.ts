import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { enqueue } from '../../runtime/jobs/enqueue.js';
import { DEMO, DEMO2, ADMIN, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { act, attach, enqueued, jobOf, obedient, reaches, testQueue, type Seen, type Worked } from './fixture.js';

let p: TestPlatform;
let token: string;
let work: Worked;
const seen: Seen[] = [];
/** Handlers of `jobs.gate` wait until the test lets them go. */
const gates = new Map<string, () => void>();
let aborted: string[] = [];

const basic = testQueue('basic', obedient(seen));
const fifo = testQueue('fifo', obedient(seen), { policy: 'key_fifo', concurrency: 5 });
const gate = testQueue(
  'gate',
  async ({ id, signal }) => {
    await new Promise<void>((resolve, reject) => {
      gates.set(id, resolve);
      signal.addEventListener('abort', () => {
        aborted.push(id);
        reject(signal.reason);
      });
    });
  },
  { concurrency: 10 },
);

beforeAll(async () => {
  p = await platform({ services: ['jobs'] });
  token = await p.serviceToken();
  work = await attach(p, [basic, fifo, gate]);
});

describe('enqueueing', () => {
  test('in a transaction that rolls back leaves no job', async () => {
    const host = p.host('jobs');
    const ids: string[] = [];
    await expect(
      host.transaction(async ctx => {
        ids.push((await enqueue(ctx, basic, { n: 1 })).id);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await p.sql('select 1 from jobs.job_meta where id = $1', [ids[0]])).toEqual([]);
    expect(await p.sql('select 1 from pgboss.job where id = $1', [ids[0]])).toEqual([]);
  });

  test('outside a transaction is refused', async () => {
    await expect(p.host('jobs').read(ctx => enqueue(ctx, basic, {}))).rejects.toThrow(/outside a transaction/);
  });

  test('answers 202 with Location, and the job runs and keeps its output', async () => {
    const answer = await p.rest('POST', '/jobs/v1/jobs', { token, body: { queue: 'jobs.basic', payload: { n: 7 }, user_id: DEMO } });
    expect(answer.status).toBe(202);
    expect(answer.headers.location).toBe(`/jobs/v1/jobs/${answer.body.id}`);
    const job = await reaches(p, answer.body.id, 'succeeded');
    expect(job).toMatchObject({
      attempt: 1,
      output: { attempts: 1 },
      payload: { n: 7 },
      user: { id: DEMO },
      queue: { name: 'jobs.basic' },
    });
    expect(job.finished_at).toMatch(/Z$/);
  });

  test('the same dedupe key 20 times in parallel makes one job with one id', async () => {
    const body = { queue: 'jobs.gate', payload: {}, dedupe_key: 'same' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => p.rest('POST', '/jobs/v1/jobs', { token, body })));
    expect(new Set(answers.map(one => one.body.id)).size).toBe(1);
    expect(answers.filter(one => one.status === 202)).toHaveLength(1);
    expect(answers.filter(one => one.status === 200)).toHaveLength(19);
    const { id } = answers[0]!.body;
    await until('it to run', async () => gates.has(id), Boolean);
    gates.get(id)!();
    await reaches(p, id, 'succeeded');
    const later = (await p.rest('POST', '/jobs/v1/jobs', { token, body })).body.id;
    expect(later).not.toBe(id);
    await until('it to run', async () => gates.has(later), Boolean);
    gates.get(later)!();
  });

  test('a key stands for dedupe_seconds after the end', async () => {
    const body = { dedupe_key: 'lasting', dedupe_seconds: 600 };
    const id = await enqueued(p, 'basic', body);
    await reaches(p, id, 'succeeded');
    expect(await enqueued(p, 'basic', body)).toBe(id);
  });

  test('with an Idempotency-Key twice answers the same job', async () => {
    const request = { token, headers: { 'idempotency-key': 'job-1' }, body: { queue: 'jobs.basic', payload: {} } };
    const [first, second] = [await p.rest('POST', '/jobs/v1/jobs', request), await p.rest('POST', '/jobs/v1/jobs', request)];
    expect([second.status, second.body.id]).toEqual([202, first.body.id]);
  });

  test('on an unknown queue is a 404', async () => {
    expect((await p.rest('POST', '/jobs/v1/jobs', { token, body: { queue: 'jobs.nowhere', payload: {} } })).status).toBe(404);
  });

  test('lists every violation of the payload with pointers', async () => {
    const payload = { n: -1, mode: 3, extra: true };
    const answer = await p.rest('POST', '/jobs/v1/jobs', { token, body: { queue: 'jobs.basic', payload } });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer).sort()).toEqual([
      '/payload/extra',
      '/payload/mode',
      '/payload/n',
    ]);
  });

  test.each([
    ['contact data', { email: 'a@b.test' }],
    ['secrets deep inside', { nested: [{ client_secret: 'x' }] }],
    ['health values', { value: 5.1 }],
  ])('refuses %s in a payload', async (_what, payload) => {
    const answer = await p.rest('POST', '/jobs/v1/jobs', { token, body: { queue: 'jobs.basic', payload } });
    expect([answer.status, answer.body.errors[0].message]).toEqual([400, 'is not an id, a code or a setting']);
  });

  test('refuses a payload of more than 64 KiB, and one that is no object', async () => {
    for (const payload of [{ mode: 'x'.repeat(70_000) }, [1], 'text'])
      expect((await p.rest('POST', '/jobs/v1/jobs', { token, body: { queue: 'jobs.basic', payload } })).status).toBe(400);
  });

  test('every bound of the input is checked, all at once', async () => {
    const body = { queue: 'jobs.basic', payload: {}, priority: 11, max_attempts: 0, dedupe_key: '', user_id: 'x', dedupe_seconds: -1 };
    const answer = await p.rest('POST', '/jobs/v1/jobs', { token, body });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer).sort()).toEqual(
      expect.arrayContaining(['/dedupe_key', '/dedupe_seconds', '/max_attempts', '/priority', '/user_id']),
    );
  });

  test('needs the scope of the service whose queue it is', async () => {
    await p.sql(`insert into jobs.queue_definition (name, service, title, policy, retry_limit, retry_delay_seconds, retry_backoff, timeout_seconds,
      heartbeat_seconds, concurrency, retention_days, payload_schema) values ('clinical.foreign', 'clinical', 'x', 'standard', 1, 1, true, 60, 60, 1, 7, '{}')`);
    const narrow = await p.internalToken('jobs');
    const answer = await p.rest('POST', '/jobs/v1/jobs', { token: narrow, body: { queue: 'clinical.foreign', payload: {} } });
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope']);
    await p.sql(`delete from jobs.queue_definition where name = 'clinical.foreign'`);
  });

  test("a service's role may enqueue on its own queues only", async () => {
    const job = JSON.stringify([{ id: '0190b3a0-0000-7000-8000-0000000000ff', queue: 'jobs.basic', payload: {}, requested_by: 'x' }]);
    await expect(p.sql(`set role platform_clinical; select * from jobs.enqueue('${job}', now())`)).rejects.toThrow(
      /belongs to another service/,
    );
    await p.sql('reset role');
  });

  test('a batch of 1,000 with one bad payload is a 400 that points at it, and stores none', async () => {
    const before = (await p.sql('select count(*)::int as n from jobs.job_meta'))[0].n;
    const jobs = Array.from({ length: 1000 }, (_, n) => ({ queue: 'jobs.basic', payload: n === 417 ? { n: 'four' } : { n } }));
    const answer = await p.rest('POST', '/jobs/v1/jobs/batch', { token, body: { jobs } });
    expect([answer.status, answer.body.errors.map((one: { pointer: string }) => one.pointer)]).toEqual([400, ['/jobs/417/payload/n']]);
    expect((await p.sql('select count(*)::int as n from jobs.job_meta'))[0].n).toBe(before);
  });

  test('a batch of 1,000 is stored whole', async () => {
    const jobs = Array.from({ length: 1000 }, (_, n) => ({ queue: 'jobs.basic', payload: { n: n + 10_000 } }));
    const answer = await p.rest('POST', '/jobs/v1/jobs/batch', { token, body: { jobs } });
    expect([answer.status, answer.body]).toEqual([202, { count: 1000 }]);
    const left = () => p.sql(`select 1 from jobs.job_meta where queue = 'jobs.basic' and status in ('queued', 'running') limit 1`);
    await until('all of them to run', left, rows => rows.length === 0, 60_000);
    expect(seen.filter(one => (one.n ?? 0) >= 10_000).length).toBe(1000);
  }, 90_000);

  test('a batch in which dedupe keys repeat counts the new ones only', async () => {
    const [one, other] = [
      { queue: 'jobs.basic', payload: { n: 801 } },
      { queue: 'jobs.basic', payload: { n: 802 }, dedupe_key: 'batch', dedupe_seconds: 600 },
    ];
    const batch = async (jobs: object[]) => (await p.rest('POST', '/jobs/v1/jobs/batch', { token, body: { jobs } })).body.count;
    expect([await batch([one, other, other]), await batch([other]), await batch([one, one])]).toEqual([2, 0, 2]);
    const ran = () => seen.flatMap(({ n }) => (n === 801 || n === 802 ? n : [])).sort((x, y) => x - y);
    await until(
      'all to run',
      async () => ran(),
      all => all.length >= 4,
    );
    expect(ran()).toEqual([801, 801, 801, 802]);
  });

  test('in one transaction the same id twice is one job', async () => {
    const id = randomUUID();
    const row = { id, queue: 'jobs.basic', payload: {}, requested_by: 'system:test' };
    const twice = await p.host('jobs').transaction(ctx => work.engine.enqueue(ctx.sql, [row, row], ctx.now()));
    expect(twice.map(({ existing }) => existing)).toEqual([false, true]);
    await reaches(p, id, 'succeeded');
  });

  test('a batch of 1,001, and an empty one, are refused', async () => {
    for (const jobs of [Array.from({ length: 1001 }, () => ({ queue: 'jobs.basic', payload: {} })), []])
      expect((await p.rest('POST', '/jobs/v1/jobs/batch', { token, body: { jobs } })).status).toBe(400);
  });
});

describe('an attempt', () => {
  test('that throws twice and then returns succeeds at attempt 3', async () => {
    const id = await enqueued(p, 'basic', { payload: { mode: 'twice' } });
    expect(await reaches(p, id, 'succeeded')).toMatchObject({ attempt: 3, error_code: null });
  });

  test('whose output cannot be stored fails alone: what ended together with it has succeeded', async () => {
    const jobs = Array.from({ length: 6 }, (_, n) => ({ queue: 'jobs.basic', payload: { n, ...(n === 3 && { mode: 'unstorable' }) } }));
    const ids = await p.host('jobs').transaction(async ctx => {
      const rows = jobs.map(one => ({ ...one, id: randomUUID(), requested_by: 'system:test', max_attempts: 1 }));
      return (await work.engine.enqueue(ctx.sql, rows, ctx.now())).map(one => one.id);
    });
    const ended = await Promise.all(ids.map(id => reaches(p, id, 'succeeded', 'dead')));
    expect(ended.map(one => one.status)).toEqual(jobs.map((_, n) => (n === 3 ? 'dead' : 'succeeded')));
  });

  test('that fails for good is dead at once; no other is made', async () => {
    const id = await enqueued(p, 'basic', { payload: { mode: 'permanent' } });
    expect(await reaches(p, id, 'dead')).toMatchObject({ attempt: 1, error_code: 'no_such_order' });
  });

  test('whose last try fails is dead, its error redacted', async () => {
    const id = await enqueued(p, 'basic', { payload: { mode: 'throw' }, max_attempts: 2 });
    const job = await reaches(p, id, 'dead');
    expect(job).toMatchObject({ attempt: 2, max_attempts: 2, error_code: 'error' });
    expect(job.error_message).not.toMatch(/hunter2|jane/);
  });

  test('a dead job put back runs with attempts from 0 under its id, its history kept', async () => {
    const id = await enqueued(p, 'basic', { payload: { mode: 'permanent' } });
    await reaches(p, id, 'dead');
    expect((await act(p, id, 'retry')).body).toMatchObject({ id, status: 'queued', attempt: 0, error_code: 'no_such_order' });
    expect(await reaches(p, id, 'dead')).toMatchObject({ attempt: 1 });
    expect((await act(p, id, 'discard', { reason: 'the order is gone' })).body.status).toBe('discarded');
    expect((await act(p, id, 'retry')).status).toBe(409);
    const [row] = await p.sql(`select details from jobs.audit_log where target = $1 and action = 'job.discarded'`, [id]);
    expect(row.details.reason).toBe('the order is gone');
  });

  test('discarding needs a reason', async () => {
    const id = await enqueued(p, 'basic', { payload: { mode: 'permanent' } });
    await reaches(p, id, 'dead');
    expect((await act(p, id, 'discard', {})).status).toBe(400);
    expect((await act(p, id, 'discard', { reason: ' ' })).status).toBe(400);
  });
});

describe('cancelling', () => {
  test('a job that waits ends at once', async () => {
    const id = await enqueued(p, 'basic', { run_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await jobOf(p, id)).status).toBe('scheduled');
    expect(await act(p, id, 'cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await p.rest('POST', '/jobs/v1/queues/jobs.basic/pause', { token });
    const queued = await enqueued(p, 'basic');
    expect(await act(p, queued, 'cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await p.rest('POST', '/jobs/v1/queues/jobs.basic/resume', { token });
    expect(seen.some(one => one.id === queued)).toBe(false);
    expect((await act(p, queued, 'retry')).body.status).toBe('queued');
    await reaches(p, queued, 'succeeded');
  });

  test('a job that runs is told by its AbortSignal (202) and is then cancelled', async () => {
    const id = await enqueued(p, 'gate');
    await until('it to run', async () => gates.has(id), Boolean);
    expect(await act(p, id, 'cancel')).toMatchObject({ status: 202, body: { status: 'cancelling' } });
    expect(await reaches(p, id, 'cancelled')).toMatchObject({ error_code: 'cancelled' });
    expect(aborted).toContain(id);
  });

  test('a job that has succeeded is a 409 that names the state', async () => {
    const id = await enqueued(p, 'basic');
    await reaches(p, id, 'succeeded');
    expect(await act(p, id, 'cancel')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('succeeded') } });
  });

  test('an unknown job is a 404', async () => {
    expect((await act(p, '0190b3a0-0000-7000-8000-00000000dead', 'cancel')).status).toBe(404);
  });
});

describe('one key in order', () => {
  test('a dead job holds its key back; put back, it comes first', async () => {
    const order = () => seen.filter(one => [901, 902, 903].includes(one.n ?? 0)).map(one => one.n);
    const body = (n: number, mode?: string) => ({ group_key: 'k', payload: { n, ...(mode && { mode }) } });
    const one = await enqueued(p, 'fifo', body(901, 'permanent'));
    const [two, three] = [await enqueued(p, 'fifo', body(902)), await enqueued(p, 'fifo', body(903))];
    await reaches(p, one, 'dead');
    const other = await enqueued(p, 'fifo', { group_key: 'other', payload: { n: 999 } });
    await reaches(p, other, 'succeeded');
    expect(await Promise.all([two, three].map(async id => (await jobOf(p, id)).status))).toEqual(['queued', 'queued']);
    await p.sql(`update jobs.job_meta set payload = '{"n": 901}' where id = $1`, [one]);
    await act(p, one, 'retry');
    await reaches(p, three, 'succeeded');
    expect(order()).toEqual([901, 901, 902, 903]);
  });

  test('discarding the dead job lets the key go on', async () => {
    const first = await enqueued(p, 'fifo', { group_key: 'd', payload: { mode: 'permanent' } });
    const second = await enqueued(p, 'fifo', { group_key: 'd', payload: {} });
    await reaches(p, first, 'dead');
    await act(p, first, 'discard', { reason: 'not needed' });
    await reaches(p, second, 'succeeded');
  });
});

describe('the time of a job', () => {
  test('a job an hour from now is scheduled until the clock has passed it', async () => {
    const now = new Date(Date.now() + 60_000);
    await p.clock('jobs', { now: now.toISOString() });
    const id = await enqueued(p, 'basic', { run_at: new Date(now.getTime() + 3_600_000).toISOString() });
    await p.clock('jobs', { advance: 'PT59M59S' });
    expect((await jobOf(p, id)).status).toBe('scheduled');
    await p.clock('jobs', { advance: 'PT1S' });
    await reaches(p, id, 'succeeded');
  });
});

describe('a queue', () => {
  test('that is paused begins nothing and loses nothing', async () => {
    const pause = await p.rest('POST', '/jobs/v1/queues/jobs.basic/pause', { token });
    expect(pause.body).toMatchObject({ name: 'jobs.basic', paused: true });
    const ids = [await enqueued(p, 'basic', { payload: { n: 501 } }), await enqueued(p, 'basic', { payload: { n: 502 } })];
    work.worker.look();
    await until(
      'a look',
      async () => (await jobOf(p, ids[0]!)).status,
      status => status === 'queued',
    );
    expect((await p.rest('GET', '/jobs/v1/queues/jobs.basic', { token })).body).toMatchObject({ paused: true, depth: 2 });
    await p.rest('POST', '/jobs/v1/queues/jobs.basic/resume', { token });
    for (const id of ids) await reaches(p, id, 'succeeded');
    expect(seen.filter(one => [501, 502].includes(one.n ?? 0)).map(one => one.n)).toEqual([501, 502]);
  });

  test('keeps an override over a restart, and refuses another policy and a stale version', async () => {
    const change = (body: object) => p.rest('PATCH', '/jobs/v1/queues/jobs.fifo', { token, body });
    const { version } = (await p.rest('GET', '/jobs/v1/queues/jobs.fifo', { token })).body;
    expect((await change({ retry_limit: 9, version })).body).toMatchObject({ retry_limit: 9 });
    expect((await change({ retry_limit: 8, version })).status).toBe(409);
    expect((await change({ policy: 'standard' })).status).toBe(400);
    expect((await change({ retry_limit: 21, timeout_seconds: 0 })).body.errors.length).toBe(2);
    await (await attach(p, [fifo], false)).stop();
    expect((await p.rest('GET', '/jobs/v1/queues/jobs.fifo', { token })).body).toMatchObject({ retry_limit: 9, timeout_seconds: 900 });
  });

  test('puts back its dead jobs of one error code only, with one audit row', async () => {
    const ids = [
      await enqueued(p, 'basic', { payload: { mode: 'permanent' } }),
      await enqueued(p, 'basic', { payload: { mode: 'throw' }, max_attempts: 1 }),
    ];
    for (const id of ids) await reaches(p, id, 'dead');
    const dead = (
      await p.sql(
        `select count(*)::int as n from jobs.job_meta where queue = 'jobs.basic' and status = 'dead' and error_code = 'no_such_order'`,
      )
    )[0].n;
    await p.rest('POST', '/jobs/v1/queues/jobs.basic/pause', { token });
    const answer = await p.rest('POST', '/jobs/v1/queues/jobs.basic/retry-dead', { token, body: { error_code: 'no_such_order' } });
    expect(answer).toMatchObject({ status: 202, body: { count: dead } });
    expect((await jobOf(p, ids[0]!)).status).toBe('queued');
    expect((await jobOf(p, ids[1]!)).status).toBe('dead');
    expect(await p.sql(`select 1 from jobs.audit_log where action = 'job_queue.dead_retried'`)).toHaveLength(1);
    await p.rest('POST', '/jobs/v1/queues/jobs.basic/resume', { token });
  });

  test('the overview and the workers are told', async () => {
    const overview = (await p.rest('GET', '/jobs/v1/overview', { token })).body;
    const basicRow = overview.queues.find((one: { name: string }) => one.name === 'jobs.basic');
    expect(basicRow.rate_per_minute).toBeGreaterThan(0);
    expect(basicRow.dead_count).toBeGreaterThan(0);
    const workers = (await p.rest('GET', '/jobs/v1/workers', { token })).body.data;
    expect(workers.some((one: { queues: string[]; state: string }) => one.queues.includes('jobs.gate') && one.state === 'alive')).toBe(
      true,
    );
    await p.sql(`update jobs.worker_beat set last_beat_at = now() - interval '61 seconds'`);
    const later = (await p.rest('GET', '/jobs/v1/workers', { token })).body.data;
    expect(later.map((one: { state: string }) => one.state)).toContain('lost');
  });
});

describe('who sees what', () => {
  test('a member sees the own job with its title, status and progress, and nothing else', async () => {
    const member = await p.userToken(DEMO, ['read:account']);
    const id = await enqueued(p, 'basic', { user_id: DEMO });
    await reaches(p, id, 'succeeded');
    const { body } = await p.rest('GET', `/jobs/v1/jobs/me/${id}`, { token: member });
    expect(Object.keys(body).sort()).toEqual(['created_at', 'finished_at', 'id', 'progress', 'started_at', 'status', 'title']);
    expect(body).toMatchObject({ id, title: 'Test basic', status: 'succeeded' });
    const list = await p.rest('GET', '/jobs/v1/jobs/me', { token: member });
    expect(list.body.data.map((one: { id: string }) => one.id)).toContain(id);
  });

  test('a member finds no job of another user, and may not read queues', async () => {
    const id = await enqueued(p, 'basic', { user_id: DEMO });
    const other = await p.userToken(DEMO2, ['read:account']);
    expect((await p.rest('GET', `/jobs/v1/jobs/me/${id}`, { token: other })).status).toBe(404);
    expect((await p.rest('GET', '/jobs/v1/queues', { token: other })).status).toBe(403);
  });

  test('staff without the payload right see neither payload nor output, and must say why they cancel', async () => {
    const reader = await p.userToken(ADMIN, ['read:account'], {
      permissions: ['admin:jobs:read', 'admin:jobs:operate'],
      roles: ['developer'],
    } as never);
    const id = await enqueued(p, 'basic', { payload: { n: 3 } });
    await reaches(p, id, 'succeeded');
    expect((await p.rest('GET', `/jobs/v1/jobs/${id}`, { token: reader })).body).toMatchObject({
      payload: null,
      output: null,
      status: 'succeeded',
    });
    const waiting = await enqueued(p, 'basic', { run_at: '2099-01-01T00:00:00Z' });
    expect((await p.rest('POST', `/jobs/v1/jobs/${waiting}/cancel`, { token: reader, body: {} })).status).toBe(400);
    expect((await p.rest('POST', `/jobs/v1/jobs/${waiting}/cancel`, { token: reader, body: { reason: 'a test' } })).status).toBe(200);
  });

  test('a list is filtered by queue, status, user and time, and pages', async () => {
    const all = await p.rest('GET', `/jobs/v1/jobs?queue=jobs.basic&status=succeeded&user_id=${DEMO}&limit=1`, { token });
    expect(all.body.data).toHaveLength(1);
    const next = await p.rest(
      'GET',
      `/jobs/v1/jobs?queue=jobs.basic&status=succeeded&user_id=${DEMO}&limit=1&cursor=${all.body.next_cursor}`,
      { token },
    );
    expect(next.body.data[0].id).not.toBe(all.body.data[0].id);
    expect((await p.rest('GET', '/jobs/v1/jobs?from=2099-01-01T00:00:00Z', { token })).body.data).toEqual([]);
    expect((await p.rest('GET', '/jobs/v1/jobs?cursor=x', { token })).status).toBe(400);
  });

  test('the jobs of a user and the queues of a service are fields of User and PlatformService', async () => {
    const { data, errors } = await p.graphql(
      `query ($id: ID!) { user(id: $id) { jobs { id status } } platformServices { slug jobQueues { name } } }`,
      { id: DEMO },
      { token },
    );
    expect(errors).toEqual([]);
    expect(data.user.jobs.length).toBeGreaterThan(0);
    const queues = data.platformServices
      .find((one: { slug: string }) => one.slug === 'jobs')
      .jobQueues.map((one: { name: string }) => one.name);
    expect(queues).toContain('jobs.event_emit');
  });
});
