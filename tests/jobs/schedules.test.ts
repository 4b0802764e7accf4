import { beforeAll, describe, expect, test, vi } from 'vitest';
import { jitterOf } from '../../subgraphs/jobs/rules/occurrences.js';
import { atEnd } from '../support/at-end.js';
import { freePort, platform, type TestPlatform } from '../support/platform.js';
import { startProcess, type Child } from '../support/processes.js';
import { until } from '../support/until.js';
import { attach, obedient, reaches, testQueue, type Seen } from './fixture.js';

let p: TestPlatform;
let token: string;
const seen: Seen[] = [];
const gates = new Map<string, () => void>();

beforeAll(async () => {
  p = await platform({ services: ['jobs'] });
  token = await p.serviceToken();
  const slow = testQueue('slow', ({ id }) => new Promise<void>(resolve => void gates.set(id, resolve)), { concurrency: 20 });
  await attach(p, [testQueue('tick', obedient(seen), { concurrency: 20 }), slow]);
  for (const key of ['jobs.retention', 'jobs.maintenance']) await p.rest('POST', `/jobs/v1/schedules/${key}/pause`, { token });
  await p.sql(`insert into jobs.test_clock (now) values ('2026-10-24T12:00:00Z')`); // the day before the clocks go back
});

const create = (key: string, body: object) =>
  p.rest('POST', '/jobs/v1/schedules', { token, body: { key: `operator.${key}`, queue: 'jobs.tick', ...body } });
const schedule = async (key: string): Promise<any> => (await p.rest('GET', `/jobs/v1/schedules/operator.${key}`, { token })).body;
const occurrences = async (key: string): Promise<any[]> =>
  (await p.rest('GET', `/jobs/v1/schedules/operator.${key}/occurrences?limit=100`, { token })).body.data;
const jobsOf = (key: string) =>
  p.sql(`select id, status, occurrence_at from jobs.job_meta where schedule_key = $1 order by occurrence_at`, [`operator.${key}`]);
const pause = (key: string) => p.rest('POST', `/jobs/v1/schedules/operator.${key}/pause`, { token });
const dues = async (key: string): Promise<string[]> => (await occurrences(key)).map(one => one.due_at).reverse();
const now = async (): Promise<Date> => (await p.sql<{ now: Date }>('select now from jobs.test_clock'))[0]!.now;
/** The clock goes on while nobody is there to see what is due. */
const away = (interval: string) => p.sql(`update jobs.test_clock set now = now + $1::interval`, [interval]);

describe('a time zone', () => {
  test('Europe/Berlin over 2026-10-25: 06:00 runs once, at 05:00Z; 02:30 exists twice and fires once', async () => {
    await create('morning', { cron: '0 6 * * *', time_zone: 'Europe/Berlin' });
    await create('autumn', { cron: '30 2 * * *', time_zone: 'Europe/Berlin' });
    await p.clock('jobs', { now: '2026-10-26T12:00:00.000Z' });
    for (const key of ['morning', 'autumn']) await pause(key);
    expect(await dues('morning')).toEqual(['2026-10-25T05:00:00.000Z', '2026-10-26T05:00:00.000Z']);
    expect(await dues('autumn')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']);
    await p.clock('jobs', { now: '2026-12-01T00:00:00.000Z' });
    for (const id of (await p.sql(`select id from jobs.job_meta where queue = 'jobs.tick'`)).map(row => row.id))
      await reaches(p, id, 'succeeded');
  }, 60_000);
});

describe('a schedule', () => {
  /** Another process in which nothing but time does something, on the same database. */
  async function instance(): Promise<Child> {
    const port = String(await freePort());
    const gateway = { GATEWAY_URL: p.url, IDENTITY_ISSUER: `${p.url}/identity`, SUBGRAPH_URL_IDENTITY: p.url };
    const child = startProcess({ ...p.env, ...gateway, PORT: port, SERVICES: 'jobs', ROLES: 'subgraphs,scheduler' });
    atEnd(() => child.end());
    const ready = () =>
      fetch(`http://localhost:${port}/jobs/readyz`).then(
        answer => answer.status,
        () => 0,
      );
    await until('another instance', ready, status => status === 200, 60_000).catch(error => {
      throw new Error(`${(error as Error).message}\n${child.printed()}`);
    });
    return child;
  }

  test('every minute sends 60 occurrences and 60 jobs in an hour, with three instances', async () => {
    const others = await Promise.all([instance(), instance()]);
    seen.length = 0;
    expect((await create('minutely', { cron: '* * * * *' })).status).toBe(201);
    for (let minute = 5; minute <= 60; minute += 5) {
      await away('5 minutes'); // each of the three sees by itself that five are due
      await until(
        'five more',
        () => jobsOf('minutely'),
        jobs => jobs.length >= minute,
      );
    }
    await pause('minutely');
    await Promise.all(others.map(child => child.end()));
    expect(await occurrences('minutely')).toHaveLength(60);
    const jobs = await jobsOf('minutely');
    expect(new Set(jobs.map(one => one.id)).size).toBe(60);
    for (const job of jobs) await reaches(p, job.id, 'succeeded');
    expect(seen).toHaveLength(60);
  }, 120_000);

  test('answers with its next five runs', async () => {
    const { body } = await create('shown', { cron: '0 12 * * *' });
    expect(body.next_runs).toEqual([1, 2, 3, 4, 5].map(day => `2026-12-0${day}T12:00:00.000Z`));
    expect(body.next_run_at).toBe(body.next_runs[0]);
    await pause('shown');
    expect((await schedule('shown')).next_runs).toEqual([]);
  });

  test('at an instant fires once and is finished', async () => {
    const at = new Date((await now()).getTime() + 600_000).toISOString();
    await create('once', { at });
    await p.clock('jobs', { advance: 'PT30M' });
    expect(await schedule('once')).toMatchObject({ status: 'finished', next_run_at: null, last_run_at: at });
    expect(await jobsOf('once')).toHaveLength(1);
  });

  test('every duration keeps its grid', async () => {
    const begun = (await now()).getTime();
    await create('grid', { every: 'PT90M' });
    await p.clock('jobs', { advance: 'PT5H' });
    await pause('grid');
    expect(await dues('grid')).toEqual([90, 180, 270].map(minutes => new Date(begun + minutes * 60_000).toISOString()));
  });

  test('run now is an extra job, the next run stays', async () => {
    const before = await schedule('shown');
    const answer = await p.rest('POST', '/jobs/v1/schedules/operator.shown/run', { token });
    expect(answer.status).toBe(202);
    await reaches(p, answer.body.id, 'succeeded');
    expect(await schedule('shown')).toMatchObject({ next_run_at: before.next_run_at, last_status: 'succeeded' });
  });

  test('jitter moves the job, not the occurrence', async () => {
    await create('jitter', { every: 'PT1H', jitter_seconds: 600 });
    await p.clock('jobs', { advance: 'PT1H' });
    await pause('jitter');
    const [job] = await p.sql(
      `select id, extract(epoch from coalesce(run_at, occurrence_at) - occurrence_at)::int as later, occurrence_at from jobs.job_meta where schedule_key = 'operator.jitter'`,
    );
    expect(job.later).toBe(jitterOf(job.id, 600));
    expect(job.later).toBeLessThanOrEqual(600);
    expect(await dues('jitter')).toEqual([job.occurrence_at.toISOString()]);
  });
});

describe('what was missed while nobody was there', () => {
  test.each([
    ['skip', 0],
    ['once', 1],
    ['all', 3],
  ])('for three hours, of an hourly schedule: %s sends %i', async (misfire, count) => {
    await create(`down-${misfire}`, { cron: '0 * * * *', misfire });
    await p.clock('jobs', { now: new Date(Math.ceil((await now()).getTime() / 3_600_000) * 3_600_000 - 1000).toISOString() });
    await away('2 hours 20 minutes'); // three times are over, each by more than the grace
    await p.clock('jobs', { advance: 'PT1S' });
    await pause(`down-${misfire}`);
    const all = await occurrences(`down-${misfire}`);
    expect(all.filter(one => one.state === 'sent')).toHaveLength(count);
    expect(all.filter(one => one.state === 'misfired')).toHaveLength(all.length - count);
    expect(all).toHaveLength(3);
    expect(await jobsOf(`down-${misfire}`)).toHaveLength(count);
  });

  test('of more than 100, ALL catches up the last 100; the rest is one warning', async () => {
    const warn = vi.spyOn(p.host('jobs').log, 'warn');
    await create('many', { every: 'PT1M', misfire: 'all', grace_seconds: 30 });
    await away('160 minutes');
    await p.clock('jobs', { advance: 'PT1S' });
    await pause('many');
    const states = `select state, count(*)::int as count, min(due_at) as first from jobs.schedule_occurrence where schedule_key = 'operator.many' group by state order by state`;
    const [misfired, sent] = await p.sql(states);
    expect([misfired, sent]).toMatchObject([
      { state: 'misfired', count: 59 },
      { state: 'sent', count: 101 },
    ]); // one within the grace
    expect(sent.first > misfired.first).toBe(true);
    expect(warn.mock.calls.filter(([what]) => (what as { schedule?: string }).schedule === 'operator.many')).toHaveLength(1);
    warn.mockRestore();
  }, 60_000);

  test('of more than 10,000, the latest are written down', async () => {
    await create('ages', { every: 'PT1M', misfire: 'once', grace_seconds: 0 });
    await away('8 days');
    await p.clock('jobs', { advance: 'PT1S' });
    await pause('ages');
    const [row] = await p.sql(
      `select count(*)::int as count, max(due_at) as last, max(due_at) filter (where state = 'sent') as sent from jobs.schedule_occurrence where schedule_key = 'operator.ages'`,
    );
    expect(row.count).toBe(10_000);
    expect((await now()).getTime() - row.last.getTime()).toBeLessThanOrEqual(60_000);
    expect(row.sent).toEqual(row.last);
  }, 60_000);

  test('within the grace is sent as if nothing had been', async () => {
    await p.clock('jobs', { now: new Date(Math.ceil((await now()).getTime() / 3_600_000) * 3_600_000).toISOString() });
    await create('grace', { cron: '30 * * * *', grace_seconds: 300 });
    await away('34 minutes');
    await p.clock('jobs', { advance: 'PT1S' });
    await pause('grace');
    expect((await occurrences('grace')).map(one => one.state)).toEqual(['sent']);
  });
});

describe('an occurrence while an earlier job is not finished', () => {
  async function minutes(key: string, count: number, everySecond: (minute: number) => Promise<void>): Promise<void> {
    const start = Math.floor((await now()).getTime() / 60_000) * 60_000 + 60_000;
    for (let minute = 0; minute < count; minute++) {
      await p.clock('jobs', { now: new Date(start + minute * 60_000).toISOString() });
      await everySecond(minute);
    }
    await pause(key);
  }
  const running = (key: string) =>
    until(
      'the job to run',
      () => jobsOf(key),
      jobs => jobs.some(one => one.status === 'running'),
    );

  test('with overlap skip and a job of 90 s each minute, every second one is skipped', async () => {
    await create('overlap', { queue: 'jobs.slow', cron: '* * * * *', overlap: 'skip' });
    let since = 0;
    await minutes('overlap', 6, async () => {
      const open = (await jobsOf('overlap')).find(one => ['queued', 'running'].includes(one.status));
      if (!open) return;
      await running('overlap');
      if (++since % 2 === 0) {
        gates.get(open.id)!(); // 60 s after the one that begins, which has run for 90 s before the next
        await reaches(p, open.id, 'succeeded');
      }
    });
    const states = (await occurrences('overlap')).map(one => one.state).reverse();
    expect(states.slice(0, 6)).toEqual(['sent', 'skipped_overlap', 'sent', 'skipped_overlap', 'sent', 'skipped_overlap']);
  }, 60_000);

  test('with overlap queue it waits behind', async () => {
    await create('behind', { queue: 'jobs.slow', cron: '* * * * *', overlap: 'queue' });
    await minutes('behind', 3, async () => void (await running('behind')));
    expect((await jobsOf('behind')).map(one => one.status).slice(0, 3)).toEqual(['running', 'scheduled', 'scheduled']);
    for (let done = 0; done < 3; done++) {
      const job = (await running('behind')).find(one => one.status === 'running')!;
      await until('its handler', async () => gates.has(job.id), Boolean);
      gates.get(job.id)!();
      await reaches(p, job.id, 'succeeded');
    }
    expect((await jobsOf('behind')).slice(0, 3).map(one => one.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  }, 60_000);
});

describe('a time zone in spring', () => {
  test('Europe/Berlin in spring: 02:30 does not exist on 2027-03-28 and fires once, at 01:00Z', async () => {
    await p.clock('jobs', { now: '2027-03-27T12:00:00.000Z' });
    await create('spring', { cron: '30 2 * * *', time_zone: 'Europe/Berlin' });
    await p.clock('jobs', { now: '2027-03-29T12:00:00.000Z' });
    await pause('spring');
    expect(await dues('spring')).toEqual(['2027-03-28T01:00:00.000Z', '2027-03-29T00:30:00.000Z']);
  });
});

describe('making and changing one', () => {
  test.each([
    ['a cron expression of four fields', { cron: '* * * * ' }, '/cron'],
    ['a minute that no clock has', { cron: '61 * * * *' }, '/cron'],
    ['a zone that does not exist', { cron: '0 6 * * *', time_zone: 'Europe/Atlantis' }, '/time_zone'],
    ['two times', { cron: '0 6 * * *', every: 'PT1H' }, ''],
    ['no time', {}, ''],
    ['an instant that is over', { at: '2020-01-01T00:00:00Z' }, '/at'],
    ['every few seconds', { every: 'PT5S' }, '/every'],
    ['a duration that is none', { every: 'an hour' }, '/every'],
    ['a payload that the queue does not know', { cron: '0 6 * * *', payload: { nothing: 1 } }, '/payload/nothing'],
  ])('%s is a 400', async (_what, body, pointer) => {
    const answer = await create('wrong', body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer)).toContain(pointer);
  });

  test('every violation is listed', async () => {
    const answer = await create('wrong', { cron: 'x x x x x', time_zone: 'Nowhere/X', payload: { a: 1 } });
    expect(answer.body.errors).toHaveLength(3);
  });

  test('an unknown queue is a 404, a taken key a 409', async () => {
    expect((await create('x', { queue: 'jobs.nowhere', cron: '0 6 * * *' })).status).toBe(404);
    expect((await create('shown', { cron: '0 6 * * *' })).status).toBe(409);
  });

  test('a changed expression never fires for the past', async () => {
    await create('moved', { cron: '0 0 1 1 *' });
    await p.clock('jobs', { advance: 'P2D' });
    const change = await p.rest('PATCH', '/jobs/v1/schedules/operator.moved', { token, body: { cron: '0 * * * *', version: 1 } });
    expect(change.body).toMatchObject({ cron: '0 * * * *', version: 2 });
    expect(new Date(change.body.next_run_at).getTime()).toBeGreaterThan((await now()).getTime());
    expect(await occurrences('moved')).toEqual([]);
    expect((await p.rest('PATCH', '/jobs/v1/schedules/operator.moved', { token, body: { cron: '0 * * * *', version: 1 } })).status).toBe(
      409,
    );
    expect((await p.rest('DELETE', '/jobs/v1/schedules/operator.moved', { token })).status).toBe(204);
    expect((await p.rest('GET', '/jobs/v1/schedules/operator.moved', { token })).status).toBe(404);
  });

  test('one that stands in code can be paused and resumed only', async () => {
    const call = (method: string, path: string, body?: object) =>
      p.rest(method, `/jobs/v1/schedules/jobs.retention${path}`, { token, body });
    expect((await call('PATCH', '', { cron: '0 1 * * *', version: 1 })).body).toMatchObject({ status: 409, reason: 'code_schedule' });
    expect((await call('DELETE', '')).status).toBe(409);
    expect((await call('POST', '/resume')).body.status).toBe('active');
    expect((await call('POST', '/resume')).status).toBe(409);
    expect((await call('POST', '/pause')).body.status).toBe('paused');
  });

  test('after a pause it goes on with the next time that is due', async () => {
    await create('paused', { cron: '0 * * * *', misfire: 'all' });
    await pause('paused');
    await p.clock('jobs', { advance: 'PT5H' });
    const resumed = await p.rest('POST', '/jobs/v1/schedules/operator.paused/resume', { token });
    expect(new Date(resumed.body.next_run_at).getTime()).toBeGreaterThan((await now()).getTime());
    expect(await occurrences('paused')).toEqual([]);
    await pause('paused');
  });
});
