import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { jobQueue } from '../../runtime/jobs/queue.js';
import { queues } from '../../subgraphs/jobs/workers/queues.js';
import { atEnd } from '../support/at-end.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { act, attach, enqueued, jobOf, obedient, reaches, testQueue, type Handler, type Seen } from './fixture.js';

let p: TestPlatform;
let token: string;
const seen: Seen[] = [];
const gates = new Map<string, () => void>();
const effects: string[] = [];

const gate: Handler = ({ id }) => new Promise<void>(resolve => void gates.set(id, resolve));
const open = async (id: string): Promise<void> => {
  await until('its handler', async () => gates.has(id), Boolean);
  gates.get(id)!();
  await reaches(p, id, 'succeeded');
};

const emit = queues.find(one => one.name === 'jobs.event_emit')!;
/** The handler of `jobs.event_emit`, whose first attempt fails after all has been done. */
const emitTwice = jobQueue('jobs', {
  name: 'jobs.emit_twice',
  title: 'Publishing, then failing',
  retryLimit: 2,
  retryDelaySeconds: 0,
  retryBackoff: false,
  payload: emit.payload,
  async run(job) {
    await emit.run(job as never);
    if (job.attempt === 1) throw new Error('after the effect');
  },
});

beforeAll(async () => {
  p = await platform({ services: ['jobs'] });
  token = await p.serviceToken();
  atEnd(async () => gates.forEach(end => end()));
  await attach(p, [
    testQueue('one_per_key', gate, { policy: 'singleton', concurrency: 5 }),
    testQueue('only_one', gate, { policy: 'exclusive', concurrency: 5 }),
    testQueue('only_one_dies', obedient(seen), { policy: 'exclusive', retryLimit: 0 }),
    testQueue('two_per_key', gate, { perKeyConcurrency: 2, concurrency: 10 }),
    testQueue('ranked', obedient(seen), { concurrency: 1 }),
    testQueue('endless', () => new Promise<void>(() => undefined), { timeoutSeconds: 1, retryLimit: 1, retryDelaySeconds: 2 }),
    testQueue('backing_off', obedient(seen), { concurrency: 20, retryLimit: 20, retryDelaySeconds: 1000, retryBackoff: true }),
    testQueue('once_only', async ({ attempt, once }) => {
      await once('effect', async ctx => void effects.push(ctx.slug));
      await once('other', async ctx => void effects.push(`other of ${ctx.slug}`));
      if (attempt < 3) throw new Error('again');
    }),
    testQueue('talkative', async ({ log, attempt }) => {
      for (let line = 1; line <= 600; line++) await log('info', `${attempt}: ${line}`);
      if (attempt === 1) throw new Error('again');
    }),
    emitTwice,
  ]);
});

const statuses = (ids: readonly string[]): Promise<string[]> => Promise.all(ids.map(async id => (await jobOf(p, id)).status));
const enqueue = (queue: string, body: object = {}) =>
  p.rest('POST', '/jobs/v1/jobs', { token, body: { queue: `jobs.${queue}`, payload: {}, ...body } });
const some = (queue: string, count: number, body: object): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => enqueued(p, queue, body)));

describe('a queue with the policy', () => {
  test('SINGLETON runs one job of a key at once, and a key that runs does not keep another back', async () => {
    const ids = await some('one_per_key', 3, { group_key: 'a' });
    await until(
      'one of them to run',
      () => statuses(ids),
      all => all.includes('running'),
    );
    const other = await enqueued(p, 'one_per_key', { group_key: 'b' });
    await reaches(p, other, 'running');
    expect((await statuses(ids)).sort()).toEqual(['queued', 'queued', 'running']);
    for (let left = ids; left.length > 0;) {
      const all = await until(
        'the next to run',
        () => statuses(left),
        now => now.includes('running'),
      );
      expect(all.filter(one => one === 'running')).toHaveLength(1);
      const at = all.indexOf('running');
      await open(left[at]!);
      left = left.filter((_, index) => index !== at);
    }
    await open(other);
  });

  test('EXCLUSIVE answers the job of the key that waits or runs', async () => {
    const first = await enqueue('only_one', { group_key: 'a' });
    expect(first.status).toBe(202);
    await reaches(p, first.body.id, 'running');
    expect(await enqueue('only_one', { group_key: 'a' })).toMatchObject({ status: 200, body: { id: first.body.id } });
    const other = await enqueue('only_one', { group_key: 'b' });
    expect(other.status).toBe(202);
    await open(first.body.id);
    await open(other.body.id);
    const next = await enqueue('only_one', { group_key: 'a' });
    expect(next.status).toBe(202);
    await open(next.body.id);
  });

  test('EXCLUSIVE lets a job whose time has come wait for its place, and other jobs do not wait with it', async () => {
    const now = new Date(Date.now() + 60_000);
    await p.clock('jobs', { now: now.toISOString() });
    const later = { run_at: new Date(now.getTime() + 60_000).toISOString() };
    const [one, two] = [await enqueued(p, 'only_one', later), await enqueued(p, 'only_one', later)];
    const blocker = await enqueued(p, 'only_one');
    const foreign = await enqueued(p, 'ranked', later);
    await p.clock('jobs', { advance: 'PT2M' });
    await reaches(p, foreign, 'succeeded');
    expect(await statuses([one, two])).toEqual(['scheduled', 'scheduled']);
    await open(blocker);
    const first = await until(
      'one of them to run',
      () => statuses([one, two]),
      all => all.includes('running'),
    );
    expect(first.sort()).toEqual(['running', 'scheduled']);
    for (const id of [one, two].sort((a, b) => Number(gates.has(b)) - Number(gates.has(a)))) await open(id);
  });

  test('EXCLUSIVE puts no dead job back while another waits or runs', async () => {
    const ids = [];
    for (let n = 0; n < 2; n++) {
      const id = await enqueued(p, 'only_one_dies', { payload: { mode: 'permanent' } });
      await reaches(p, id, 'dead');
      ids.push(id);
    }
    await p.rest('POST', '/jobs/v1/queues/jobs.only_one_dies/pause', { token });
    const retried = await p.rest('POST', '/jobs/v1/queues/jobs.only_one_dies/retry-dead', { token, body: {} });
    expect([retried.status, retried.body]).toEqual([202, { count: 1 }]);
    const left = (await jobOf(p, ids[0]!)).status === 'dead' ? ids[0]! : ids[1]!;
    expect((await act(p, left, 'retry')).body).toMatchObject({ status: 409, reason: 'queue_exclusive' });
    expect((await p.rest('POST', '/jobs/v1/queues/jobs.only_one_dies/retry-dead', { token, body: {} })).body).toEqual({ count: 0 });
  });

  test('perKeyConcurrency runs so many jobs of a key at once, whatever the concurrency', async () => {
    const ids = await some('two_per_key', 5, { group_key: 'x' });
    const other = await enqueued(p, 'two_per_key', { group_key: 'y' });
    await reaches(p, other, 'running');
    const all = await until(
      'two of them to run',
      () => statuses(ids),
      now => now.filter(one => one === 'running').length >= 2,
    );
    expect(all.sort()).toEqual(['queued', 'queued', 'queued', 'running', 'running']);
    for (let left = ids; left.length > 0;) {
      const [next] = await until(
        'another to run',
        async () => left.filter(id => gates.has(id)),
        found => found.length > 0,
      );
      await open(next!);
      left = left.filter(id => id !== next);
    }
    await open(other);
  });

  test('the highest priority comes first, and of one priority the oldest', async () => {
    await p.rest('POST', '/jobs/v1/queues/jobs.ranked/pause', { token });
    const ids = [];
    for (const [n, priority] of [-10, 0, 5, 10, 5].entries()) ids.push(await enqueued(p, 'ranked', { priority, payload: { n: 700 + n } }));
    await p.rest('POST', '/jobs/v1/queues/jobs.ranked/resume', { token });
    for (const id of ids) await reaches(p, id, 'succeeded');
    expect(seen.flatMap(({ n }) => (n !== undefined && n >= 700 ? n : []))).toEqual([703, 702, 704, 701, 700]);
  });
});

describe('an attempt that fails', () => {
  test('by its time is RETRYING with the time of the next, and DEAD after the last: timed_out', async () => {
    const id = await enqueued(p, 'endless');
    const retrying = await reaches(p, id, 'retrying');
    expect(retrying).toMatchObject({ attempt: 1, error_code: 'timed_out', finished_at: null });
    expect(new Date(retrying.next_attempt_at).getTime()).toBeGreaterThan(new Date(retrying.started_at).getTime() + 1000);
    expect(await reaches(p, id, 'dead')).toMatchObject({ attempt: 2, error_code: 'timed_out', next_attempt_at: null });
  });

  test('waits by a delay that doubles up to an hour, spread over all of it', async () => {
    const ids = await some('backing_off', 40, { payload: { mode: 'throw' } });
    const delays = async (attempt: number): Promise<number[]> => {
      const retrying = `select extract(epoch from next_attempt_at - started_at)::float as delay from jobs.job_meta
        where id = any($1) and status = 'retrying' and attempt = $2`;
      const rows = await until(
        'all to wait',
        () => p.sql(retrying, [ids, attempt]),
        found => found.length === ids.length,
      );
      return rows.map(row => row.delay);
    };
    /** Lets the waiting jobs begin their next attempt after so many. */
    const again = (retries: number) =>
      p.sql('update pgboss.job set retry_count = $2, start_after = now() where id = any($1)', [ids, retries]);
    const first = await delays(1);
    expect(Math.max(...first)).toBeLessThan(1010);
    expect(Math.min(...first)).toBeLessThan(500);
    await again(0);
    const second = await delays(2);
    expect(Math.max(...second)).toBeLessThan(2010);
    expect(Math.max(...second)).toBeGreaterThan(1010);
    await again(10);
    const late = await delays(3);
    expect(Math.max(...late)).toBeLessThan(3610);
    expect(Math.max(...late)).toBeGreaterThan(2010);
    expect(Math.min(...late)).toBeLessThan(1800);
  });
});

describe('what a handler is given', () => {
  test('once(key, fn) has its effect once, whatever the number of attempts', async () => {
    const id = await enqueued(p, 'once_only');
    expect(await reaches(p, id, 'succeeded')).toMatchObject({ attempt: 3 });
    expect(effects).toEqual(['jobs', 'other of jobs']);
  });

  test('jobs.event_emit publishes exactly one event over a retry', async () => {
    const data = { ...(emittable as object), request_id: randomUUID() };
    const id = await enqueued(p, 'emit_twice', { payload: { type: 'comms.message.send_requested.v1', data } });
    expect(await reaches(p, id, 'succeeded')).toMatchObject({ attempt: 2 });
    expect(await p.sql(`select 1 from events.outbox where data->>'request_id' = $1`, [data.request_id])).toHaveLength(1);
  });

  test('the log keeps 1,000 lines of a job, over its attempts', async () => {
    const id = await enqueued(p, 'talkative');
    await reaches(p, id, 'succeeded');
    const lines = (await p.rest('GET', `/jobs/v1/jobs/${id}/logs`, { token })).body.data;
    expect(lines).toHaveLength(1000);
    expect([lines[0].message, lines[999].message]).toEqual(['1: 1', '2: 400']);
  });
});

const emittable = {
  template: 'job_dead',
  channels: ['email'],
  recipient_type: 'staff_role',
  recipient_id: 'developer',
  params: {},
  dedupe_key: 'a-test',
  send_after: null,
  category: 'transactional',
};

test('a worker that stops claims nothing, lets handlers end, tells them after 20 s, and gives the rest back uncounted', async () => {
  const signals = new Map<string, AbortSignal>();
  const stopping: Handler = async ({ id, attempt, payload, signal }) => {
    if (payload.mode === 'gentle' && attempt === 1) throw new Error('the first');
    signals.set(id, signal);
    await new Promise<void>((resolve, reject) => {
      if (payload.mode === 'gentle') signal.addEventListener('abort', () => reject(signal.reason));
      if (payload.mode === 'ends') gates.set(id, resolve);
    });
  };
  const work = await attach(p, [testQueue('stopping', stopping, { concurrency: 10, heartbeatSeconds: 10 })]);
  const start = async (mode: string): Promise<string> => {
    const id = await enqueued(p, 'stopping', { payload: { mode } });
    await until('its handler', async () => signals.has(id), Boolean);
    return id;
  };
  const [gentle, stubborn, ends, cancelled] = [
    await start('gentle'),
    await start('stubborn'),
    await start('ends'),
    await start('stubborn'),
  ];
  const stopped = work.stop();
  const late = await enqueued(p, 'stopping', { payload: { mode: 'late' } });
  gates.get(ends)!();
  await reaches(p, ends, 'succeeded');
  await act(p, cancelled, 'cancel');
  await until('the cancelled one to be told', async () => signals.get(cancelled)!.aborted, Boolean);
  expect([gentle, stubborn].map(id => signals.get(id)!.aborted)).toEqual([false, false]);
  await stopped;
  expect([gentle, stubborn].map(id => signals.get(id)!.reason.code)).toEqual(['stopping', 'stopping']);
  expect(await jobOf(p, gentle)).toMatchObject({ status: 'queued', attempt: 1 });
  expect(await jobOf(p, stubborn)).toMatchObject({ status: 'queued', attempt: 0 });
  expect(await jobOf(p, cancelled)).toMatchObject({ status: 'cancelled' });
  expect(await jobOf(p, late)).toMatchObject({ status: 'queued', attempt: 0 });
}, 60_000);
