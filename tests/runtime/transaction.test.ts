import { beforeAll, expect, test, vi } from 'vitest';
import { waitingIn } from '../support/locks.js';
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

test('of two transactions that lock each other out one is told to try again, and the log names the table', async () => {
  const host = p.host('clinical');
  const error = vi.spyOn(host.log, 'error');
  const lock = (code: string, word: string): string => `select 1 as ${word} from clinical.biomarker where code = '${code}' for update`;
  const gate = Promise.withResolvers<void>();
  const first = host.transaction(async ctx => {
    await ctx.sql(lock('ldl_c', 'one'));
    gate.resolve();
    await waitingIn(p, 'two_waits');
    return ctx.sql(lock('hdl_c', 'one_waits'));
  });
  const second = host.transaction(async ctx => {
    await gate.promise;
    await ctx.sql(lock('hdl_c', 'two'));
    return ctx.sql(lock('ldl_c', 'two_waits'));
  });
  const ended = await Promise.allSettled([first, second]);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(ended.find(one => one.status === 'rejected')).toMatchObject({ reason: { code: 'unavailable' } });
  expect(error.mock.calls).toEqual([
    [{ where: expect.stringContaining('relation "biomarker"') }, 'two transactions locked each other out'],
  ]);
  error.mockRestore();
});

test('a transaction is refused a second connection of its service, which could wait for itself', async () => {
  const host = p.host('clinical');
  const nested = host.transaction(() => host.read(ctx => ctx.sql('select 1')));
  await expect(nested).rejects.toThrow('clinical asked for a second connection inside a transaction');
  const after = host.transaction(async ctx => ctx.afterCommit(async () => void (await host.read(own => own.sql('select 1')))));
  await expect(after).resolves.toBeUndefined();
});
