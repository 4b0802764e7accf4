import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { bloodworkUploaded } from '../../events/catalogue/clinical.js';
import { isLastOfTransaction } from '../../events/prepared.js';
import { Together } from '../../runtime/data/together.js';
import { waitingIn } from '../support/locks.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { askedDuring, type Asked } from '../support/statements.js';

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

describe('what a transaction audits and emits', () => {
  const USER = randomUUID();
  const UPLOADED = { report_id: randomUUID(), document_id: randomUUID(), uploaded_by: 'member', page_count: null } as const;
  const both = (user: string = USER): Promise<void> =>
    p.host('clinical').transaction(async ctx => {
      ctx.audit('test.first', USER, { n: 1 });
      ctx.audit('test.second', USER);
      ctx.emit(bloodworkUploaded, UPLOADED, { userId: user });
    });
  const audited = () => p.sql('select action, actor, at, details from clinical.audit_log where target = $1 order by id', [USER]);
  const emitted = () => p.sql('select type from events.outbox where user_id = $1', [USER]);

  test('is written in one statement, in one message with the commit', async () => {
    for (let n = 0; n < 5; n++) await both(); // the first of a connection goes alone
    await p.sql('delete from clinical.audit_log where target = $1', [USER]);
    const before = (await emitted()).length;
    const asked = await askedDuring(p, both);
    const own = asked.filter(({ text, values }) => text === 'commit' || values.some(one => String(one).includes(USER)));
    expect(own.map(({ text }) => [text.includes('clinical.audit_log'), text.includes('events.append'), isLastOfTransaction(text)])).toEqual(
      [[true, true, true]],
    );
    const row = { actor: { kind: 'system', client_id: 'svc-clinical' }, at: expect.any(Date) };
    expect(await audited()).toEqual([
      { ...row, action: 'test.first', details: { n: 1 } },
      { ...row, action: 'test.second', details: {} },
    ]);
    expect(await emitted()).toHaveLength(before + 1);
  });

  test('is undone together', async () => {
    const before = [await audited(), await emitted()];
    const failing = p.host('clinical').transaction(async ctx => {
      ctx.audit('test.first', USER);
      ctx.emit(bloodworkUploaded, UPLOADED, { userId: USER });
      Object.assign(ctx.events[0]!, { source: 'payments' }); // a foreign emitter
    });
    await expect(failing).rejects.toMatchObject({ code: '42501' });
    expect([await audited(), await emitted()]).toEqual(before);
  });
});

describe('a last write', () => {
  const ADD = 'insert into clinical.kept (one) values ($1)';
  /** Those from the first write on, on its connection: timers go on meanwhile, also on the connection before it. */
  function ownOf(asked: readonly Asked[]): Asked[] {
    const first = asked.findIndex(({ text }) => text.startsWith(ADD));
    return asked.slice(first).filter(({ on }) => on === asked[first]!.on);
  }
  const kept = async (): Promise<number[]> => (await p.sql('select one from clinical.kept order by at')).map(row => row.one as number);

  beforeAll(async () => {
    await p.sql('create table clinical.kept (one int primary key, at int generated always as identity)');
    await p.sql('grant all on clinical.kept to platform_clinical');
    for (let n = -5; n < 0; n++) await p.host('clinical').transaction(ctx => ctx.writeLast(ADD, [n])); // the first of a connection goes alone
  });
  beforeEach(() => p.sql('delete from clinical.kept'));

  test('is sent when the rest is done, in one message with the commit', async () => {
    const asked = await askedDuring(p, () =>
      p.host('clinical').transaction(async ctx => {
        await ctx.writeLast(ADD, [2]);
        await ctx.writeLast(ADD, [3]);
        await ctx.sql(ADD, [1]);
      }),
    );
    const own = ownOf(asked).filter(({ text }) => text.startsWith(ADD) || text === 'commit');
    expect(own.map(({ text, values }) => [values[0], isLastOfTransaction(text)])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(await kept()).toEqual([1, 2, 3]);
  });

  test('comes before what the transaction audits, which then carries the commit', async () => {
    const asked = await askedDuring(p, () =>
      p.host('clinical').transaction(async ctx => {
        await ctx.writeLast(ADD, [1]);
        ctx.audit('test.done', null);
      }),
    );
    const own = ownOf(asked).filter(
      ({ text }) => text.startsWith(ADD) || text.startsWith('insert into clinical.audit_log') || text === 'commit',
    );
    expect(own.map(({ text }) => isLastOfTransaction(text))).toEqual([false, true]);
    expect(await kept()).toEqual([1]);
  });

  test('that fails undoes the whole transaction, and inside a savepoint that alone', async () => {
    const host = p.host('clinical');
    await p.sql('insert into clinical.kept (one) values (1)');
    const failed = host.transaction(async ctx => {
      await ctx.writeLast(ADD, [1]);
      await ctx.sql(ADD, [2]);
    });
    await expect(failed).rejects.toMatchObject({ code: 'conflict' });
    await host.transaction(async ctx => {
      await ctx.savepoint(() => ctx.writeLast(ADD, [1])).catch(() => undefined);
      await ctx.sql(ADD, [3]);
    });
    expect(await kept()).toEqual([1, 3]);
  });

  test('of callers whom one transaction serves together is its own', async () => {
    const adding = new Together<number, null, { id: string }>({
      field: 'add',
      type: 'Kept',
      keyOf: () => 'all',
      lock: async () => null,
      begin: async () => ({
        async one(own, { input }) {
          await own.writeLast(ADD, [input]);
          return { id: randomUUID() };
        },
      }),
    });
    await Promise.all([1, 2].map(input => p.host('clinical').read(ctx => adding.run({ ctx, input, path: 'add' }))));
    expect((await kept()).sort((a, b) => a - b)).toEqual([1, 2]);
  });
});
