import { beforeAll, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['clinical'] });
});

test('a connection that the server ends inside a transaction costs the service nothing but that transaction', async () => {
  const host = p.host('clinical');
  const broken = () =>
    host.transaction(async ctx => {
      const [{ pid }] = (await ctx.sql<{ pid: number }>('select pg_backend_pid() as pid')) as [{ pid: number }];
      await p.sql('select pg_terminate_backend($1, 5000)', [pid]);
      return ctx.sql('select 1');
    });
  for (let n = 0; n <= host.config.poolMax; n++) await expect(broken()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await host.read(ctx => ctx.sql('select 1 as one'))).toEqual([{ one: 1 }]);
});

test('a transaction is refused a second connection of its service, which could wait for itself', async () => {
  const host = p.host('clinical');
  const nested = host.transaction(() => host.read(ctx => ctx.sql('select 1')));
  await expect(nested).rejects.toThrow('clinical asked for a second connection inside a transaction');
  const after = host.transaction(async ctx => ctx.afterCommit(async () => void (await host.read(own => own.sql('select 1')))));
  await expect(after).resolves.toBeUndefined();
});
