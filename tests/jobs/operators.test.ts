import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { externalSyncCompleted } from '../../events/catalogue/partner.js';
import { appendEvents, prepareEvent } from '../../events/outbox.js';
import { ADMIN, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { act, attach, enqueued, jobOf, obedient, reaches, testQueue, type Seen } from './fixture.js';

let p: TestPlatform;
let token: string;
const seen: Seen[] = [];

beforeAll(async () => {
  p = await platform({ services: ['jobs', 'events'] });
  token = await p.serviceToken();
  await attach(p, [testQueue('worked', obedient(seen))]);
  await attach(p, [testQueue('idle', obedient(seen))], false);
});

const staff = (...permissions: string[]) => p.userToken(ADMIN, ['read:account'], { permissions, roles: ['developer'] } as never);
const schedule = (key: string, body: object, as = token) =>
  p.rest('POST', '/jobs/v1/schedules', { token: as, body: { key: `operator.${key}`, queue: 'jobs.idle', cron: '0 0 1 1 *', ...body } });
const audited = async (action: string): Promise<(string | null)[]> =>
  (await p.sql(`select details->>'reason' as reason from jobs.audit_log where action = $1 order by at, id`, [action])).map(
    row => row.reason,
  );

describe('running a schedule now on an exclusive queue', () => {
  test('answers the job that waits', async () => {
    const run = () => p.rest('POST', '/jobs/v1/schedules/jobs.maintenance/run', { token });
    await p.rest('POST', '/jobs/v1/queues/jobs.maintenance/pause', { token });
    const [first, second] = [await run(), await run()];
    expect([first.status, second.status, second.body.id]).toEqual([202, 200, first.body.id]);
    await p.rest('POST', '/jobs/v1/queues/jobs.maintenance/resume', { token });
    await reaches(p, first.body.id, 'succeeded');
  });

  test('keeps back an occurrence that is due meanwhile: SKIPPED_OVERLAP, with the job that was there', async () => {
    await p.rest('POST', '/jobs/v1/queues/jobs.maintenance/pause', { token });
    await schedule('tidy', { queue: 'jobs.maintenance', cron: '* * * * *', overlap: 'allow' });
    const { body } = await p.rest('POST', '/jobs/v1/schedules/operator.tidy/run', { token });
    const [{ at }] = await p.sql(`select next_run_at as at from jobs.schedule where key = 'operator.tidy'`);
    await p.clock('jobs', { now: at.toISOString() });
    const path = '/jobs/v1/schedules/operator.tidy';
    const found = (await p.rest('GET', `${path}/occurrences`, { token })).body.data;
    expect(found).toMatchObject([{ state: 'skipped_overlap', job_id: body.id }]);
    expect((await p.rest('DELETE', path, { token })).status).toBe(204);
    await p.rest('POST', '/jobs/v1/queues/jobs.maintenance/resume', { token });
  });
});

describe('what staff do is audited with a reason', () => {
  const act = async (method: string, path: string, body: object, as: string) => p.rest(method, `/jobs/v1${path}`, { token: as, body });

  test.each<[string, string, object, string]>([
    ['POST', '/queues/jobs.idle/pause', {}, 'job_queue.paused'],
    ['POST', '/queues/jobs.idle/resume', {}, 'job_queue.resumed'],
    ['PATCH', '/queues/jobs.idle', { retry_limit: 3 }, 'job_queue.updated'],
    ['PATCH', '/schedules/operator.audited', { cron: '0 1 1 1 *', version: 1 }, 'job_schedule.updated'],
    ['POST', '/schedules/operator.audited/pause', {}, 'job_schedule.paused'],
    ['POST', '/schedules/operator.audited/resume', {}, 'job_schedule.resumed'],
    ['POST', '/schedules/operator.audited/run', {}, 'job_schedule.run'],
  ])('%s %s', async (method, path, body, action) => {
    await schedule('audited', {}); // there already after the first
    const as = await staff('admin:jobs');
    const refused = await act(method, path, body, as);
    expect([refused.status, refused.body.errors?.map((one: { pointer: string }) => one.pointer)]).toEqual([400, ['/reason']]);
    expect((await act(method, path, { ...body, reason: ' ' }, as)).status).toBe(400);
    expect((await act(method, path, { ...body, reason: 'a drill' }, as)).status).toBeLessThan(300);
    expect((await audited(action)).at(-1)).toBe('a drill');
  });

  test('a service may leave it out; making and deleting a schedule, and putting dead jobs back, keep one that is given', async () => {
    expect((await act('POST', '/queues/jobs.idle/pause', {}, token)).status).toBe(200);
    expect((await audited('job_queue.paused')).at(-1)).toBeNull();
    await act('POST', '/queues/jobs.idle/resume', {}, token);
    await schedule('short', { reason: 'for a day' }, await staff('admin:jobs'));
    expect((await audited('job_schedule.created')).at(-1)).toBe('for a day');
    expect((await p.rest('DELETE', '/jobs/v1/schedules/operator.short?reason=over', { token })).status).toBe(204);
    expect((await audited('job_schedule.deleted')).at(-1)).toBe('over');
    await act('POST', '/queues/jobs.idle/retry-dead', { reason: 'mended' }, token);
    expect((await audited('job_queue.dead_retried')).at(-1)).toBe('mended');
  });
});

describe('who may look', () => {
  test.each(['/jobs', '/queues', '/queues/jobs.idle', '/schedules', '/workers', '/overview'])(
    'GET %s takes admin:jobs:read of staff; the right to act is none to look',
    async path => {
      const get = async (...permissions: string[]) =>
        (await p.rest('GET', `/jobs/v1${path}`, { token: await staff(...permissions) })).status;
      expect(await get('admin:jobs:read')).toBe(200);
      expect(await get('admin:jobs:operate', 'admin:jobs:payload', 'admin:jobs:schedules')).toBe(403);
      expect((await p.rest('GET', `/jobs/v1${path}`, { token })).status).toBe(200); // admin scope of a service: conventions 7
    },
  );

  test('whoever may act sees what the action answers', async () => {
    const as = await staff('admin:jobs:operate');
    const id = await enqueued(p, 'idle', { payload: { n: 1 } });
    const answer = await p.rest('POST', `/jobs/v1/jobs/${id}/cancel`, { token: as, body: { reason: 'a test' } });
    expect([answer.status, answer.body.status, answer.body.payload]).toEqual([200, 'cancelled', null]);
    expect((await p.rest('GET', `/jobs/v1/jobs/${id}`, { token: as })).status).toBe(403);
  });
});

describe('a sync run of the partner that has ended', () => {
  test('is the last status of its schedule, once for each run; one that is told late changes nothing', async () => {
    await schedule('sync', {});
    await p.sql(
      `update jobs.schedule set key = 'partner.orders', payload = '{"entity": "orders"}', status = 'paused' where key = 'operator.sync'`,
    );
    const counts = { read: 1, written: 1, skipped: 0, failed: 0, duration_ms: 5 };
    const ended = async (run: string, status: 'succeeded' | 'partial' | 'failed', minute: number): Promise<void> => {
      const at = new Date(Date.UTC(2026, 10, 22, 10, minute));
      const data = { run_id: run, direction: 'pull' as const, entity: 'orders', status, ...counts };
      const origin = { source: 'partner', requestId: run, causationId: null, actor: 'system:test', traceparent: null } as const;
      await p.host('events').transaction(ctx => appendEvents(ctx.sql, [prepareEvent(externalSyncCompleted, data, {}, origin)], at));
    };
    const last = async () => (await p.rest('GET', '/jobs/v1/schedules/partner.orders', { token })).body.last_status;
    const [early, late, final] = [randomUUID(), randomUUID(), randomUUID()];
    await ended(late, 'partial', 20);
    await until('the run', last, status => status === 'partial');
    await ended(early, 'failed', 10);
    await ended(late, 'succeeded', 30);
    const handled = () => p.sql(`select 1 from jobs.inbox where consumer = 'jobs.syncs'`);
    await until('the others', handled, rows => rows.length === 3);
    expect(await last()).toBe('partial');
    await ended(final, 'succeeded', 40);
    await until('the next run', last, status => status === 'succeeded');
  });
});

describe('an erasure', () => {
  test('arrives as an event, ends and wipes the jobs of the user, lets the next occurrence go, and is confirmed', async () => {
    const dead = await enqueued(p, 'worked', { user_id: DEMO2, payload: { mode: 'permanent' } });
    await reaches(p, dead, 'dead');
    await schedule('behind', { cron: '* * * * *', overlap: 'queue' });
    const [{ at }] = await p.sql(`select next_run_at as at from jobs.schedule where key = 'operator.behind'`);
    await p.clock('jobs', { now: at.toISOString() });
    await p.clock('jobs', { advance: 'PT1M' });
    await p.rest('POST', '/jobs/v1/schedules/operator.behind/pause', { token });
    const ofSchedule = () => p.sql(`select id, status from jobs.job_meta where schedule_key = 'operator.behind' order by occurrence_at`);
    const [first, held] = await ofSchedule();
    expect([first.status, held.status]).toEqual(['queued', 'scheduled']);
    await p.sql('update jobs.job_meta set user_id = $2 where id = $1', [first.id, DEMO2]);

    const asked = await p.rest('POST', '/identity/v1/erasure-requests', { token, body: { user_id: DEMO2, immediate: true } });
    const task = async () =>
      (await p.rest('GET', `/identity/v1/erasure-requests/${asked.body.id}`, { token })).body.tasks.find(
        (one: { service: string }) => one.service === 'jobs',
      );
    expect(await until('jobs to confirm', task, one => one?.status === 'confirmed')).toMatchObject({ outcome: 'erased' });

    expect((await ofSchedule()).map(row => row.status)).toEqual(['cancelled', 'queued']);
    expect(await jobOf(p, dead)).toMatchObject({ status: 'dead', payload: null, user: null });
    for (const id of [dead, first.id]) expect((await act(p, id, 'retry')).body).toMatchObject({ status: 409, reason: 'payload_erased' });
    expect((await p.rest('POST', '/jobs/v1/queues/jobs.worked/retry-dead', { token, body: {} })).body).toEqual({ count: 0 });
    expect((await act(p, dead, 'discard', { reason: 'erased' })).body.status).toBe('discarded');
  }, 60_000);
});
