import { beforeAll, describe, expect, test } from 'vitest';
import { Permanent } from '../../runtime/jobs/queue.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { act, attach, enqueued, jobOf, reaches, testQueue, type Worked } from './fixture.js';

let p: TestPlatform;
let token: string;
const lives = new Map<string, { resolve(): void; progress(percent: number): Promise<void>; log(text: string): Promise<void> }>();

const queue = () =>
  testQueue(
    'held',
    async ({ id, progress, log }) => {
      await new Promise<void>(resolve =>
        lives.set(id, { resolve, progress: percent => progress({ percent, step: 'copying' }), log: text => log('info', text) }),
      );
      return { done: true };
    },
    { concurrency: 10, heartbeatSeconds: 10 },
  );

const inLine = () => testQueue('lines', async () => Promise.reject(new Permanent('no_such_order')), { policy: 'key_fifo' });

let work: Worked;
beforeAll(async () => {
  p = await platform({ services: ['jobs'] });
  token = await p.serviceToken();
  work = await attach(p, [queue(), inLine()]);
});

async function running(body: object = {}): Promise<string> {
  const id = await enqueued(p, 'held', body);
  await until('its handler', async () => lives.has(id), Boolean);
  return id;
}

describe('a worker', () => {
  test('that has lost its heartbeat loses its claim: another attempt is made, and what it says later is refused', async () => {
    const id = await running();
    const [claim] = await p.sql(`select id, queue, claim::int, attempt from jobs.job_meta where id = $1`, [id]);
    await p.sql(`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = $1`, [id]);
    lives.delete(id);
    await until(
      'another attempt',
      () => jobOf(p, id),
      job => job.attempt === 2,
      20_000,
    );
    const refused = await work.database.transaction(async sql => [
      (await work.engine.succeed(sql, [{ claim: claim as never, output: { zombie: true } }])).size,
      await work.engine.fail(sql, claim as never, { code: 'x', message: 'x', permanent: true }),
      await work.engine.release(sql, claim as never),
    ]);
    expect(refused).toEqual([0, null, null]);
    await until('the second handler', async () => lives.has(id), Boolean);
    lives.get(id)!.resolve();
    expect(await reaches(p, id, 'succeeded')).toMatchObject({ attempt: 2, output: { done: true } });
  }, 40_000);

  test('that stops gives back what it runs, and the attempt does not count', async () => {
    await p.rest('POST', '/jobs/v1/queues/jobs.held/pause', { token });
    const id = await enqueued(p, 'held');
    const claimed = await work.database.transaction(sql => work.engine.claim(sql, 'jobs.held', 1, null, 'test'));
    expect(claimed).toMatchObject([{ id, attempt: 1 }]);
    await work.database.transaction(sql => work.engine.release(sql, claimed[0]!));
    expect(await jobOf(p, id)).toMatchObject({ status: 'queued', attempt: 0 });
    await p.rest('POST', '/jobs/v1/queues/jobs.held/resume', { token });
    await until(
      'it to begin again',
      () => jobOf(p, id),
      job => job.status === 'running',
    );
    expect((await jobOf(p, id)).attempt).toBe(1);
    await until('its handler', async () => lives.has(id), Boolean);
    lives.get(id)!.resolve();
    await reaches(p, id, 'succeeded');
  });

  test('leaves a cancelled handler that does not end to its 30 seconds', async () => {
    const id = await running();
    expect((await act(p, id, 'cancel')).status).toBe(202);
    await p.sql(`update jobs.job_meta set cancel_requested_at = now() - interval '31 seconds' where id = $1`, [id]);
    await reaches(p, id, 'cancelled');
    lives.get(id)!.resolve();
    expect((await jobOf(p, id)).status).toBe('cancelled');
  }, 20_000);

  test('whose cancelled handler succeeds all the same has succeeded', async () => {
    const id = await running();
    await act(p, id, 'cancel');
    lives.get(id)!.resolve();
    expect((await reaches(p, id, 'succeeded')).cancel_requested_at).toMatch(/Z$/);
  });
});

describe('progress and log', () => {
  test('never decrease, are awaited by a long poll, and are redacted', async () => {
    const id = await running({ user_id: DEMO });
    let answered = false;
    const waiting = p.rest('GET', `/jobs/v1/jobs/${id}?wait=20`, { token }).finally(() => (answered = true));
    let percent = 10;
    const more = () =>
      lives
        .get(id)!
        .progress(Math.min(percent++, 49))
        .then(() => answered); // the poll may begin after the first
    await until('the poll to be answered', more, Boolean, 15_000);
    expect((await waiting).body).toMatchObject({ status: 'running', progress: { percent: expect.any(Number), step: 'copying' } });
    for (const next of [50, 60, 70]) await lives.get(id)!.progress(next); // one write a second: the last one of it
    await until(
      'the second',
      () => jobOf(p, id),
      job => job.progress.percent === 70,
    );
    await p.sql(`update jobs.job_meta set progress_percent = 90 where id = $1`, [id]);
    const { at } = (await jobOf(p, id)).progress;
    await lives.get(id)!.progress(50);
    await until(
      'the next second',
      () => jobOf(p, id),
      job => job.progress.at > at,
    );
    expect((await jobOf(p, id)).progress.percent).toBe(90);
    await lives.get(id)!.log('asked with token=abc123secret for jane@example.test');
    const lines = (await p.rest('GET', `/jobs/v1/jobs/${id}/logs`, { token })).body.data;
    expect(lines).toMatchObject([{ level: 'info', attempt: 1, message: expect.not.stringMatching(/abc123|jane/) }]);
    const member = await p.userToken(DEMO, ['read:account']);
    expect((await p.rest('GET', `/jobs/v1/jobs/me/${id}`, { token: member })).body.progress).toMatchObject({ percent: 90 });
    lives.get(id)!.resolve();
    await reaches(p, id, 'succeeded');
    expect((await p.rest('GET', `/jobs/v1/jobs/${id}?wait=21`, { token })).status).toBe(400);
  }, 30_000);
});

describe('what the built-in queues do', () => {
  test('a probe asks a service, and only a service', async () => {
    const id = await enqueued(p, '', { queue: 'jobs.http_probe', payload: { service: 'identity' } });
    expect(await reaches(p, id, 'succeeded')).toMatchObject({ output: { status: 200 } });
    const foreign = await p.rest('POST', '/jobs/v1/jobs', {
      token,
      body: { queue: 'jobs.http_probe', payload: { service: 'http://example.com' } },
    });
    expect(foreign.status).toBe(400);
  });

  test('an allow-listed operation is called, any other is refused for good', async () => {
    const good = await enqueued(p, '', { queue: 'jobs.graphql_operation', payload: { operation: 'jobs.overview' } });
    expect(await reaches(p, good, 'succeeded')).toMatchObject({ output: { fields: 1 } });
    const bad = await enqueued(p, '', { queue: 'jobs.graphql_operation', payload: { operation: 'mutation { x }' } });
    expect(await reaches(p, bad, 'dead')).toMatchObject({ attempt: 1, error_code: 'operation_not_allowed' });
  });

  test('an event that jobs may not append is refused for good', async () => {
    const id = await enqueued(p, '', { queue: 'jobs.event_emit', payload: { type: 'clinical.retest.prompted.v1', data: {} } });
    expect(await reaches(p, id, 'dead')).toMatchObject({ attempt: 1, error_code: 'event_not_allowed' });
  });

  test('dead jobs raise one alarm per queue and quarter of an hour', async () => {
    const alarms = () =>
      p.sql(
        `select data from events.outbox where type = 'comms.message.send_requested.v1' and data->'params'->>'queue' = 'jobs.event_emit'`,
      );
    await p.clock('jobs', { now: new Date(Date.now() + 60_000).toISOString() });
    await until('the alarm', alarms, rows => rows.length === 1);
    const [{ data }] = await alarms();
    expect(data).toMatchObject({ template: 'job_dead', recipient_type: 'staff_role', recipient_id: 'developer' });
    const id = await enqueued(p, '', { queue: 'jobs.event_emit', payload: { type: 'no.such.v1', data: {} } });
    await reaches(p, id, 'dead');
    await p.clock('jobs', { advance: 'PT13M' }); // the first may have come before the clock was set
    expect(await alarms()).toHaveLength(1);
    await p.clock('jobs', { advance: 'PT3M' });
    expect(await alarms()).toHaveLength(2);
  });

  test('retention deletes what has been finished for longer than the days of its queue, and no dead job', async () => {
    const id = await running();
    lives.get(id)!.resolve();
    await reaches(p, id, 'succeeded');
    await p.rest('POST', '/jobs/v1/schedules/jobs.maintenance/pause', { token });
    await p.clock('jobs', { advance: 'P8D' });
    const nextNight = async () => {
      await p.clock('jobs', { advance: 'P1D' }); // one retention job at a time: that of an earlier night may stand in this one's way
      return p.rest('GET', `/jobs/v1/jobs/${id}`, { token });
    };
    await until('the job to be gone', nextNight, answer => answer.status === 404);
    expect((await p.sql(`select 1 from jobs.job_meta where status = 'dead'`)).length).toBeGreaterThan(0);
  });
});

describe('erasure', () => {
  test("ends the user's waiting jobs, tells running ones, and wipes what finished ones hold", async () => {
    const canary = 'canary9z';
    const finished = await running({ user_id: DEMO2, payload: { mode: canary } });
    await lives.get(finished)!.log(canary);
    lives.get(finished)!.resolve();
    await reaches(p, finished, 'succeeded');
    const waiting = await enqueued(p, 'held', { user_id: DEMO2, run_at: '2099-01-01T00:00:00Z', payload: { mode: canary } });
    const busy = await running({ payload: { user_id: DEMO2, mode: canary }, group_key: `user:${DEMO2}` });
    const keyed = await enqueued(p, 'lines', { group_key: `user:${DEMO2}`, payload: {} });
    await reaches(p, keyed, 'dead');
    await p.sql('update pgboss.job set group_id = $2 where id = $1', [busy, `user:${DEMO2}`]);
    await p.host('jobs').transaction(async ctx => {
      const { erase } = p.host('jobs').declaration;
      if (erase !== 'nothing_held') await erase(ctx, { userId: DEMO2, requestId: '0190b3a0-0000-7000-8000-0000000000e1', scope: 'full' });
    });
    expect(await jobOf(p, finished)).toMatchObject({ status: 'succeeded', payload: null, output: null, user: null });
    expect(await jobOf(p, waiting)).toMatchObject({ status: 'cancelled', payload: null, user: null });
    expect((await jobOf(p, busy)).status).toMatch(/cancelling|cancelled/);
    for (const table of ['jobs.job_meta', 'jobs.job_log', 'jobs.schedule', 'pgboss.job'])
      expect(
        await p.sql(`select 1 from ${table} t where t::text like $1 or t::text like $2`, [`%${DEMO2}%`, `%${canary}%`]),
        table,
      ).toEqual([]);
    lives.get(busy)!.resolve();
  });
});
