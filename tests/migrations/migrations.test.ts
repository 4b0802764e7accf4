import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { getMetadataStorage } from 'type-graphql';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { roleOf, schemaOf, type Slug } from '../../events/slugs.js';
import { migrate, ormOptions } from '../../runtime/data/database.js';
import { SERVICES } from '../../subgraphs/services.js';
import { createDatabase, dropDatabase } from '../support/database.js';

const slugs = Object.keys(SERVICES) as Slug[];
let url: string;
let owner: pg.Pool;
let applied: number;

beforeAll(async () => {
  url = await createDatabase(inject('databaseUrl'));
  applied = await migrate(url, slugs);
  owner = new pg.Pool({ connectionString: url, max: 4 });
});

afterAll(async () => {
  await owner.end();
  await dropDatabase(url);
});

/** Runs a statement as a role in a transaction that is rolled back. */
async function as(role: string, statement: string): Promise<unknown[]> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    await client.query(`set local role ${role}`);
    return (await client.query(statement)).rows;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe(`migrations on PostgreSQL ${inject('databaseMajor')}`, () => {
  test('apply to an empty database, and a second run changes nothing', async () => {
    expect(applied).toBeGreaterThan(slugs.length);
    expect(await migrate(url, slugs)).toBe(0);
  });

  test('two processes that migrate one database at once do not collide', async () => {
    const other = await createDatabase(inject('databaseUrl'));
    try {
      const counts = await Promise.all([migrate(other, slugs), migrate(other, slugs)]);
      expect(counts.sort((a, b) => a - b)).toEqual([0, applied]);
    } finally {
      await dropDatabase(other);
    }
  });

  test.each(slugs)('make the columns that the entities of %s describe', async slug => {
    const { entities } = await SERVICES[slug]!();
    const orm = await MikroORM.init(ormOptions(slug, url, entities, 2));
    const difference = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    await orm.close(true);
    expect(difference.split('\n').filter(line => line && !BY_HAND.test(line))).toEqual([]);
  });

  test.each(slugs)('agree with GraphQL on what may be null in %s', async slug => {
    const { entities } = await SERVICES[slug]!();
    const orm = await MikroORM.init(ormOptions(slug, url, entities, 2));
    const fields = getMetadataStorage().fields;
    const disagreeing = [...orm.getMetadata().getAll().values()].flatMap(meta =>
      Object.values(meta.properties)
        .filter(property => {
          const field = fields.find(one => one.target === meta.class && one.name === property.name);
          return field !== undefined && property.nullable === true && field.typeOptions.nullable !== true;
        })
        .map(property => `${meta.className}.${property.name} may be null in its table, but not in GraphQL`),
    );
    await orm.close(true);
    expect(disagreeing).toEqual([]);
  });
});

/** What migrations make by hand because entities cannot or need not say it: tables and columns of the machinery, checks, triggers, marks of columns, indexes, keys' names, defaults; events has no entities. */
const BY_HAND =
  /^(drop table if exists|drop trigger|drop function|comment on column|drop schema if exists "events"|drop index|alter index|create index|create unique index)|drop constraint|add constraint|^alter table \S+ (drop column \S+,? ?)+;$|(set|drop) default/;

describe('rights in the database', () => {
  const tables = async (schema: string): Promise<string[]> =>
    (
      await owner.query(
        `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind in ('r', 'p')`,
        [schema],
      )
    ).rows.map(row => row.relname);

  test.each(slugs)("the role of %s cannot read another service's schema", async slug => {
    for (const other of [...slugs, 'events' as Slug].filter(one => one !== slug)) {
      await expect(as(roleOf(slug), `select 1 from ${schemaOf(other)}.audit_log`)).rejects.toThrow(/permission denied/);
    }
  });

  test.each(slugs)('the role of %s can add audit rows, and neither change nor delete them', async slug => {
    const schema = schemaOf(slug);
    await as(roleOf(slug), `insert into ${schema}.audit_log (id, actor, action, at) values (gen_random_uuid(), '{}', 'test', now())`);
    await expect(as(roleOf(slug), `update ${schema}.audit_log set action = 'x'`)).rejects.toThrow(/permission denied/);
    await expect(as(roleOf(slug), `delete from ${schema}.audit_log`)).rejects.toThrow(/permission denied/);
    await expect(as(roleOf(slug), `truncate ${schema}.audit_log`)).rejects.toThrow(/permission denied/);
  });

  test.each([...slugs, 'events' as Slug])('platform_ro sees safe views of %s and no table', async slug => {
    const schema = schemaOf(slug);
    const { rows } = await owner.query<{ relname: string }>(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'v'`,
      [schema],
    );
    for (const { relname } of rows) {
      expect(relname).toMatch(/_safe$/);
      await as('platform_ro', `select * from ${schema}.${relname} limit 1`);
      await expect(as('platform_ro', `delete from ${schema}.${relname}`)).rejects.toThrow(/permission denied|cannot delete|read-only/);
    }
    for (const table of await tables(schema))
      await expect(as('platform_ro', `select 1 from ${schema}.${table}`)).rejects.toThrow(/permission denied/);
  });
});
