import { PostgreSqlDriver, raw, type SqlEntityManager } from '@mikro-orm/postgresql';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { FOR_UPDATE } from '../../runtime/data/rows.js';
import { Brand, BrandDomain } from '../../subgraphs/platform/entities/brand.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { askedDuring } from '../support/statements.js';

let p: TestPlatform;
const ids = Array.from({ length: 4 }, newId);
const slugOf = (n: number): string => `plain-${n}`;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  for (const [n, id] of ids.entries())
    await p.sql(
      `insert into platform.brand select (r).* from (
         select jsonb_populate_record(b, jsonb_build_object('id', $1::uuid, 'slug', $2::text, 'is_default', false)) r from platform.brand b where slug = 'main') x`,
      [id, slugOf(n)],
    );
});

const inTurn = async <T>(work: (em: SqlEntityManager) => Promise<T>): Promise<T> =>
  p.host('platform').read(ctx => work(ctx.em as SqlEntityManager));

/** Rows by the service's driver, and by MikroORM's own. */
async function both(where: object, options: object): Promise<[object[], object[]]> {
  const ours = await inTurn(em => em.find(Brand, where, options));
  const own = await inTurn(em => {
    const driver = em.getDriver();
    const spy = vi.spyOn(driver, 'find').mockImplementation(PostgreSqlDriver.prototype.find.bind(driver) as never);
    return em.find(Brand, where, options).finally(() => spy.mockRestore());
  });
  return [ours, own];
}

describe('a read by columns', () => {
  test.each<[string, object, object]>([
    ['a value', { slug: slugOf(1) }, {}],
    ['the same column with another value', { slug: slugOf(2) }, {}],
    ['a quote in a value', { slug: `x' or '1'='1` }, {}],
    ['a parameter mark and a backslash in a value', { slug: '?\\?' }, {}],
    ['a key', { id: ids[0] }, {}],
    ['a list of one key', { id: { $in: [ids[2]] } }, {}],
    ['keys behind one', { id: { $gt: ids[1], $in: ids } }, { orderBy: { slug: 'desc' } }],
    ['a list', { id: { $in: ids } }, { orderBy: { slug: 'desc' } }],
    ['a shorter list', { id: { $in: ids.slice(1, 3) } }, { orderBy: { slug: 'desc' } }],
    ['the other order', { id: { $in: ids } }, { orderBy: [{ slug: 'asc' }] }],
    ['an empty list', { id: { $in: [] } }, {}],
    ['a bound', { slug: { $gt: slugOf(0), $lte: slugOf(2) } }, { orderBy: { slug: 'asc' } }],
    ['a limit', { slug: { $gt: slugOf(0) }, id: { $in: ids } }, { orderBy: { slug: 'asc' }, limit: 1 }],
    ['another limit', { slug: { $gt: slugOf(0) }, id: { $in: ids } }, { orderBy: { slug: 'asc' }, limit: 2 }],
    ['an offset', { id: { $in: ids } }, { orderBy: { slug: 'asc' }, limit: 2, offset: 1 }],
    ['null', { legalName: null }, {}],
    ['not a value', { slug: { $ne: slugOf(1) }, id: { $in: ids } }, { orderBy: { slug: 'asc' } }],
    ['a choice', { $or: [{ slug: slugOf(1) }, { slug: slugOf(3) }] }, { orderBy: { slug: 'asc' } }],
    ['a date', { createdAt: { $lt: new Date() }, id: { $in: ids } }, { orderBy: { slug: 'asc' } }],
    ['a list among a row’s', { locales: { $contains: ['en'] }, id: { $in: ids } }, { orderBy: { slug: 'asc' } }],
    ['nothing', {}, { orderBy: { slug: 'asc' } }],
    ['some fields', { id: { $in: ids } }, { orderBy: { slug: 'asc' }, fields: ['slug'] }],
    ['SQL for an order', { id: { $in: ids } }, { orderBy: { [raw('slug collate "C"') as never]: 'desc' } }],
    ['other SQL for an order', { id: { $in: ids } }, { orderBy: { [raw('slug collate "C"') as never]: 'asc' } }],
  ])('with %s answers as the query builder does, first and again', async (_what, where, options) => {
    for (let times = 0; times < 2; times++) {
      const [ours, own] = await both(where, options);
      expect(JSON.stringify(ours)).toBe(JSON.stringify(own));
    }
  });

  test('of none of a list is not sent, and locks nothing', async () => {
    const asked = await askedDuring(p, () =>
      p.host('platform').transaction(async ctx => {
        expect(await ctx.em.find(Brand, { id: { $in: [] }, isDefault: false }, FOR_UPDATE)).toEqual([]);
        expect(await ctx.em.findOne(Brand, { slug: { $in: [] } })).toBeNull();
      }),
    );
    expect(asked.filter(({ text }) => text.includes('"platform"."brand"'))).toEqual([]);
  });

  test('is built once for a shape', async () => {
    const driver = await inTurn(async em => em.getDriver() as unknown as { createQueryBuilderFromOptions: () => unknown });
    const built = vi.spyOn(driver, 'createQueryBuilderFromOptions');
    const slugs = await Promise.all([0, 1, 2].map(n => inTurn(em => em.findOne(Brand, { slug: slugOf(n), isDefault: false }))));
    expect(slugs.map(one => one?.slug)).toEqual([0, 1, 2].map(slugOf));
    expect(built.mock.calls.length).toBeLessThanOrEqual(3);
    built.mockClear();
    await inTurn(em => em.findOne(Brand, { slug: slugOf(3), isDefault: false }));
    expect(built).not.toHaveBeenCalled();
    built.mockRestore();
  });

  test('of a row to be locked is built once, and locks it', async () => {
    const locked = (id: string, work: (brand: Brand) => Promise<unknown>): Promise<unknown> =>
      p.host('platform').transaction(async ctx => work((await ctx.em.findOne(Brand, { id }, { ...FOR_UPDATE, refresh: true }))!));
    await inTurn(em => em.findOne(Brand, { id: ids[0]! }));
    await locked(ids[0]!, async () => undefined);
    const driver = await inTurn(async em => em.getDriver() as unknown as { createQueryBuilderFromOptions: () => unknown });
    const built = vi.spyOn(driver, 'createQueryBuilderFromOptions');
    await locked(ids[1]!, async brand => {
      expect(brand.slug).toBe(slugOf(1));
      const [free, held] = [ids[0], ids[1]].map(id => p.sql('select 1 from platform.brand where id = $1 for update nowait', [id]));
      await expect(free).resolves.toHaveLength(1);
      await expect(held).rejects.toMatchObject({ code: '55P03' });
      const pointed = 'select 1 from platform.brand where id = $1 for key share nowait'; // as a foreign key asks
      await expect(p.sql(pointed, [ids[1]])).resolves.toHaveLength(1);
    });
    expect(built).not.toHaveBeenCalled();
    built.mockRestore();
    await expect(inTurn(em => em.findOne(Brand, { id: ids[0]! }, FOR_UPDATE))).rejects.toThrow(/transaction/);
  });

  test('by key keeps its plan, also when a migration adds a column', async () => {
    const find = (id: string): Promise<Brand | null> => inTurn(em => em.findOne(Brand, { id, isDefault: false }, { refresh: true }));
    const asked = await askedDuring(p, async () => {
      for (const id of ids) expect(await find(id)).toMatchObject({ id });
    });
    const names = asked.filter(({ text }) => text.includes('"platform"."brand"')).map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(/^house_/), names[0], names[0], names[0]]);
    await p.sql('alter table platform.brand add column added text not null default $$x$$');
    for (const id of ids) expect(await find(id)).toMatchObject({ id });
    await p.sql('alter table platform.brand drop column added');
  });

  test('is part of the transaction in which it runs', async () => {
    const found = p.host('platform').transaction(async ctx => {
      for (const slug of [slugOf(4), slugOf(5)]) {
        await ctx.sql('update platform.brand set slug = $1 where id = $2', [slug, ids[3]]);
        expect(await ctx.em.fork({ clear: true, keepTransactionContext: true }).count(Brand, { slug })).toBe(1);
        expect((await ctx.em.find(Brand, { slug }, { refresh: true })).map(brand => brand.id)).toEqual([ids[3]]);
      }
      throw new Error('undo');
    });
    await expect(found).rejects.toThrow('undo');
  });

  test('of rows that point to another entity answers its key, and changes of what was read are written', async () => {
    const [id, brandId] = [newId(), ids[0]!];
    await p.sql(
      `insert into platform.brand_domain (id, brand_id, host, purpose, status, verification_record) values ($1, $2, 'a.plain.example', 'shop', 'pending', 'x')`,
      [id, brandId],
    );
    await p.host('platform').transaction(async ctx => {
      const [domain] = await ctx.em.find(BrandDomain, { brandId: { $in: [brandId] } }, { orderBy: { host: 'asc' } });
      expect(domain).toMatchObject({ id, brandId });
      domain!.host = 'b.plain.example';
    });
    expect(await p.sql('select host from platform.brand_domain where id = $1', [id])).toEqual([{ host: 'b.plain.example' }]);
  });
});
