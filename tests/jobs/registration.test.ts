import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { unregistered, type Declared } from '../../runtime/jobs/registered.js';
import type { Sql } from '../../events/outbox.js';
import { platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let services: Declared[];
let sql: Sql;
beforeAll(async () => {
  p = await platform({ services: ['jobs', 'cash', 'affiliates', 'intelligence', 'events'] });
  services = [...p.running.hosts.values()]
    .filter(({ declaration }) => declaration.queues?.length)
    .map(({ slug, declaration }) => ({ slug, queues: declaration.queues!, schedules: declaration.schedules ?? [] }));
  sql = (text, params = []) => p.sql(text, [...params]);
});

const slugs = async (): Promise<string[]> => (await unregistered(sql, services)).map(({ slug }) => slug);

test('after a start nothing is left to register, of whatever service', async () => {
  expect(services.map(({ slug }) => slug)).toEqual(expect.arrayContaining(['jobs', 'cash', 'affiliates', 'intelligence']));
  expect(services.flatMap(({ schedules }) => schedules)).not.toEqual([]);
  expect(await slugs()).toEqual([]);
});

const QUEUE = 'jobs.maintenance';
const ofQueue = (set: string): string => `update jobs.queue_definition set ${set} where name = '${QUEUE}'`;
const ofSchedule = (set: string): string =>
  `update jobs.schedule set ${set} where key = (select min(key) from jobs.schedule where source = 'code' and key like 'jobs.%')`;

test.each([
  ['the title of a queue', ofQueue(`title = 'Another'`)],
  ['a setting of a queue', ofQueue('timeout_seconds = timeout_seconds + 1')],
  ["a queue's payload", ofQueue(`payload_schema = payload_schema || '{"title": "another"}'`)],
  ['a queue that is not there', `delete from pgboss.queue where name = '${QUEUE}'`],
  ['the time of a schedule', ofSchedule(`cron = null, every = 'PT7M'`)],
  ['the payload of a schedule', ofSchedule(`payload = '{"another": 1}'`)],
  ['a schedule that is not there', `delete from jobs.schedule where source = 'code' and key like 'jobs.%'`],
  [
    'a schedule that code no longer has',
    `insert into jobs.schedule select (jsonb_populate_record(null::jobs.schedule, to_jsonb(s) || '{"key": "jobs.former"}')).* from jobs.schedule s
       where s.source = 'code' limit 1`,
  ],
])('what differs is registered again: %s', async (_what, change) => {
  const client = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await client.connect();
  try {
    await client.query('begin');
    expect((await client.query(change)).rowCount).toBeGreaterThan(0);
    const within: Sql = async (text, params = []) => (await client.query(text, [...params])).rows as never;
    expect((await unregistered(within, services)).map(({ slug }) => slug)).toEqual(['jobs']);
  } finally {
    await client.end();
  }
});

test('a setting that an operator has chosen stands', async () => {
  await p.sql(ofQueue(`timeout_seconds = timeout_seconds + 1, overridden = array['timeout_seconds']`));
  expect(await slugs()).toEqual([]);
});
