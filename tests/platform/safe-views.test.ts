import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';

const TABLES = ['brand', 'brand_domain', 'flag', 'flag_rule', 'flag_change', 'service'];
/** Columns that a safe view leaves out. Source: platform 2, rule 11. */
const OMITTED: Record<string, string[]> = {
  brand: ['support_email', 'support_url'],
  brand_domain: ['verification_record'],
  flag: ['description'],
  flag_rule: ['conditions'],
  flag_change: ['after', 'approvals', 'before', 'reason', 'requested_by'],
  service: [],
};
const DENIED = { code: '42501' };

let p: TestPlatform;
let reader: pg.Client;

beforeAll(async () => {
  p = await platform();
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
    expect((await columns(table)).filter(column => !shown.includes(column)).sort()).toEqual(OMITTED[table]);
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
