import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

const TABLES = [
  'brand',
  'brand_domain',
  'flag',
  'flag_rule',
  'flag_change',
  'flag_usage',
  'config_key',
  'config_value',
  'service',
  'health_sample',
  'health_incident',
  'canary_probe',
  'brand_user_count',
  'safe_view',
];
/** Columns that a safe view leaves out. Source: platform 2, rule 11. */
const OMITTED: Record<string, string[]> = {
  brand: ['support_email', 'support_url'],
  brand_domain: ['verification_record'],
  flag: ['description'],
  flag_rule: ['conditions'],
  flag_change: ['after', 'approvals', 'before', 'reason', 'requested_by'],
  config_key: ['description', 'schema'],
  config_value: ['reason', 'set_by', 'value'],
};
const DENIED = { code: '42501' };

let p: TestPlatform;
let reader: pg.Client;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  reader = new pg.Client({ connectionString: p.env.DATABASE_URL!, options: '-c role=platform_ro' });
  await reader.connect();
});
afterAll(() => reader?.end());

describe('platform_ro', () => {
  test.each(TABLES)('may not read the table %s', async table => {
    await expect(reader.query(`select 1 from platform.${table}`)).rejects.toMatchObject(DENIED);
  });

  test.each(['audit_log', 'inbox', 'idempotency_key', 'schedule_slot', 'test_clock'])('may not read the house table %s', async table => {
    await expect(reader.query(`select 1 from platform.${table}`)).rejects.toMatchObject(DENIED);
  });

  test.each(TABLES)('reads %s_safe', async table => {
    const { fields } = await reader.query(`select * from platform.${table}_safe`);
    expect(fields.length).toBeGreaterThan(0);
  });

  test('reads each *_safe view of every service', async () => {
    const views = await p.sql<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'v' and c.relname like '%\\_safe' order by 1`,
    );
    expect(views.map(({ name }) => name)).toEqual(expect.arrayContaining(['platform.brand_safe', 'clinical.retest_cycles_safe']));
    for (const { name } of views) expect((await reader.query(`select * from ${name} limit 0`)).fields.length).toBeGreaterThan(0);
  });

  test('may not insert into a view, nor change or delete through it', async () => {
    await expect(reader.query(`insert into platform.service_safe (slug) values ('x')`)).rejects.toMatchObject(DENIED);
    await expect(reader.query(`update platform.flag_safe set killed = true`)).rejects.toMatchObject(DENIED);
    await expect(reader.query(`delete from platform.flag_safe`)).rejects.toMatchObject(DENIED);
  });

  test('may not log in, writes nothing by default and is stopped after 30 s', async () => {
    const [role] = await p.sql(`select rolcanlogin, rolsuper, rolconfig from pg_roles where rolname = 'platform_ro'`);
    expect(role).toMatchObject({ rolcanlogin: false, rolsuper: false });
    expect(role.rolconfig).toEqual(expect.arrayContaining(['default_transaction_read_only=on', 'statement_timeout=30s']));
  });
});

describe('a safe view', () => {
  test.each(TABLES)('of %s has all columns but the personal, secret and free-text ones', async table => {
    const columns = async (name: string): Promise<string[]> =>
      (
        await p.sql(`select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`, [
          `platform.${name}`,
        ])
      ).map(({ attname }) => attname);
    const shown = await columns(`${table}_safe`);
    expect((await columns(table)).filter(column => !shown.includes(column)).sort()).toEqual(OMITTED[table] ?? []);
  });

  test('is a security barrier and owned by a role that cannot log in', async () => {
    const rows = await p.sql(
      `select c.relname, c.reloptions, r.rolname, r.rolcanlogin, r.rolsuper from pg_class c join pg_roles r on r.oid = c.relowner
       where c.relnamespace = 'platform'::regnamespace and c.relkind = 'v' order by 1`,
    );
    expect(rows.map(({ relname }) => relname)).toEqual(TABLES.map(table => `${table}_safe`).sort());
    for (const row of rows)
      expect(row).toMatchObject({ reloptions: ['security_barrier=true'], rolname: 'platform_views', rolcanlogin: false, rolsuper: false });
  });
});

test("the service's role can neither delete a flag nor change an audit row", async () => {
  const { host } = { host: p.host('platform') };
  for (const statement of [
    'delete from platform.flag',
    'delete from platform.flag_change',
    `update platform.audit_log set action = 'x'`,
    'delete from platform.audit_log',
  ])
    await expect(host.read(ctx => ctx.sql(statement))).rejects.toMatchObject(DENIED);
});

describe('the daily comparison', () => {
  const views = async (query = '') =>
    (await p.rest('GET', `/platform/v1/admin/safe-views?${query}`, { token: await p.serviceToken() })).body.data;

  /** Nothing was compared yet, so it is due. */
  const compare = async () => {
    await p.sql('delete from platform.safe_view');
    await p.clock('platform', { advance: 'PT1S' });
  };

  test('runs at the first start, and lists what each view leaves out and why', async () => {
    const all = await until(
      'the first comparison',
      () => views('schema=platform'),
      found => found.length > 0,
    );
    expect(all.map(({ view }: { view: string }) => view)).toEqual(TABLES.map(table => `${table}_safe`).sort());
    expect(all.find(({ view }: { view: string }) => view === 'config_value_safe').omitted).toEqual([
      { column: 'value', reason: 'free_text' },
      { column: 'set_by', reason: 'personal' },
      { column: 'reason', reason: 'free_text' },
    ]);
  });

  test('finds nothing wrong in any schema', async () => {
    expect(await views('drift=true')).toEqual([]);
  });

  test('knows why a view of clinical leaves a column out, and finds a marked one in it', async () => {
    const cycles = (await views('schema=clinical')).find(({ view }: { view: string }) => view === 'retest_cycles_safe');
    const omitted = ['baseline_value', 'unit', 'target_low', 'target_high', 'follow_up_value', 'delta', 'delta_percent'];
    for (const column of omitted) expect(cycles.omitted).toContainEqual({ column, reason: 'health' });
    await p.sql(`comment on column clinical.retest_cycle.outcome_direction is 'class: health'`);
    await p.sql(`comment on column clinical.observation.performer is 'class: health'`);
    await compare();
    const found = await views('drift=true');
    expect(found.map(({ schema, view, drift }: { schema: string; view: string; drift: string[] }) => [schema, view, drift])).toEqual([
      ['clinical', 'observation_safe', ['shows performer, which is marked health']],
      ['clinical', 'retest_cycles_safe', ['shows outcome_direction, which is marked health']],
    ]);
    await p.sql('comment on column clinical.retest_cycle.outcome_direction is null');
    await p.sql('comment on column clinical.observation.performer is null');
    await compare();
    expect(await views('drift=true')).toEqual([]);
  });

  test('finds a marked column in a view, a right beyond reading, and a right on a table', async () => {
    await p.sql(`comment on column platform.brand.name is 'class: personal'`);
    await p.sql('grant insert on platform.service_safe to platform_ro');
    await p.sql('grant select on platform.flag_rule to platform_ro');
    await compare();
    const found = await views('drift=true');
    expect(found.map(({ view, drift }: { view: string; drift: string[] }) => [view, drift])).toEqual([
      ['brand_safe', ['shows name, which is marked personal']],
      ['flag_rule', ['grants SELECT on what is no safe view']],
      ['service_safe', ['grants INSERT']],
    ]);
    await p.sql(`comment on column platform.brand.name is null`);
    await p.sql('revoke insert on platform.service_safe from platform_ro');
    await p.sql('revoke select on platform.flag_rule from platform_ro');
    await compare();
    expect(await views('drift=true')).toEqual([]);
  });
});
