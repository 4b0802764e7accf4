import { randomUUID } from 'node:crypto';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { messageSendRequested } from '../../events/catalogue/comms.js';
import { newId } from '../../runtime/data/ids.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import { findRow, loadRow, lockOnce, lockRow, requireRow, requireVersion, rowsBy } from '../../runtime/data/rows.js';
import type { Context } from '../../runtime/request/context.js';
import { requestMessage, type Recipient } from '../../runtime/request/messages.js';
import { preparation } from '../../runtime/request/operation.js';
import { internalRequest } from '../../runtime/request/request.js';
import { service } from '../../runtime/service.js';
import { Client } from '../support/statements.js';
import { CALLER, startService, type Started } from './support/service.js';

@Entity({ tableName: 'parcel' })
class Parcel {
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'uuid' })
  ownerId: string;

  @Property({ type: 'text' })
  code: string;

  @Property({ type: 'text', nullable: true })
  note: string | null;

  @Property({ type: 'integer' })
  version: number;
}

const TABLE = `create table payments.parcel (id uuid primary key, owner_id uuid not null, code text not null unique, note text, version int not null)`;

const declaration = service({
  slug: 'payments',
  purpose: 'Rows, for tests of the runtime.',
  entities: [Parcel],
  resolvers: [],
  erase: 'nothing_held',
});

let started: Started;
const [OWNER, OTHER] = [randomUUID(), randomUUID()];
beforeAll(async () => {
  started = await startService(declaration, [TABLE]);
});

const read = <T>(work: (ctx: Context) => Promise<T>): Promise<T> => started.host.read(work);
const write = <T>(work: (ctx: Context) => Promise<T>): Promise<T> => started.host.transaction(work);

async function parcel(ownerId = OWNER): Promise<string> {
  const id = newId();
  await started.sql(`insert into payments.parcel values ('${id}', '${ownerId}', 'p-${id}', 'fragile', 1)`);
  return id;
}

/** Statements that ask for the table from here on. */
function statements(): () => number {
  const spy = vi.spyOn(Client.prototype, 'query');
  return () => spy.mock.calls.filter(([one]) => String((one as unknown as { text?: string }).text ?? one).includes('"parcel"')).length;
}

describe('a row by its id', () => {
  test('is found by its owner alone', async () => {
    const id = await parcel();
    expect(await read(ctx => findRow(ctx, Parcel, { id, ownerId: OWNER }))).toMatchObject({ id });
    expect(await read(ctx => findRow(ctx, Parcel, { id, ownerId: OTHER }))).toBeNull();
    await expect(read(ctx => requireRow(ctx, Parcel, { id, ownerId: OTHER }))).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each(['', 'p-1', 'ffffffff-ffff-ffff-ffff-fffffffffff', "' or 1=1"])(
    '%j, which is no UUID, finds nothing, as an absent one',
    async id => {
      expect(await read(ctx => findRow(ctx, Parcel, { id }))).toBeNull();
      for (const find of [requireRow, lockRow])
        await expect(write(ctx => find(ctx, Parcel, { id }, 'No such parcel'))).rejects.toMatchObject({
          code: 'not_found',
          message: 'No such parcel',
        });
    },
  );

  test('a text column takes any text', async () => {
    expect(await read(ctx => findRow(ctx, Parcel, { code: 'no uuid' }))).toBeNull();
  });
});

describe('a locked row', () => {
  test('lets nobody else change it until the transaction ends', async () => {
    const id = await parcel();
    await write(async ctx => {
      await lockRow(ctx, Parcel, { id });
      const change = started.sql(`set lock_timeout = 100; update payments.parcel set version = 2 where id = '${id}'`);
      await expect(change).rejects.toMatchObject({ code: '55P03' });
      await started.sql('reset lock_timeout');
    });
    await started.sql(`update payments.parcel set version = 2 where id = '${id}'`);
  });

  test('is read anew, a value that has become null included', async () => {
    const id = await parcel();
    await write(async ctx => {
      const before = await requireRow(ctx, Parcel, { id });
      await started.sql(`update payments.parcel set note = null, version = 7 where id = '${id}'`);
      expect(await lockRow(ctx, Parcel, { id })).toBe(before);
      expect(before).toMatchObject({ note: null, version: 7 });
    });
  });

  test('keeps what the transaction has changed before', async () => {
    const id = await parcel();
    await write(async ctx => {
      (await requireRow(ctx, Parcel, { id })).note = 'heavy';
      expect(await lockRow(ctx, Parcel, { id })).toMatchObject({ note: 'heavy' });
    });
    expect(await read(ctx => requireRow(ctx, Parcel, { id }))).toMatchObject({ note: 'heavy' });
  });

  test('is locked once where it need not be read anew, and again in another transaction or after one that was undone in part', async () => {
    const id = await parcel();
    await write(async ctx => {
      await requireRow(ctx, Parcel, { id });
      const count = statements();
      const row = await lockOnce(ctx, Parcel, id); // read, not locked
      expect(count()).toBe(1);
      row.note = 'heavy';
      expect(await lockOnce(ctx, Parcel, id)).toBe(row);
      expect(await lockOnce(ctx, Parcel, id.toUpperCase())).toBe(row);
      expect(row.note).toBe('heavy');
    });
    await write(async ctx => {
      const undone = ctx.savepoint(async () => {
        await lockOnce(ctx, Parcel, id);
        throw new Error('undo');
      });
      await expect(undone).rejects.toThrow('undo');
      await started.sql(`update payments.parcel set note = 'light' where id = '${id}'`);
      expect(await lockOnce(ctx, Parcel, id)).toMatchObject({ note: 'light' });
    });
    await expect(write(ctx => lockOnce(ctx, Parcel, 'no uuid'))).rejects.toMatchObject({ code: 'not_found' });
  });
});

test.each([
  [1, true],
  [2, false],
  [null, true],
  [undefined, true],
])('a row of version 1 may be changed by whoever knows %j: %s', (known, isAllowed) => {
  const change = () => requireVersion({ version: 1 }, known);
  if (isAllowed) expect(change).not.toThrow();
  else expect(change).toThrow(expect.objectContaining({ code: 'conflict', options: { reason: 'version_conflict' } }));
});

describe('rows by a unique column', () => {
  test('are one statement, in the order of the keys, null for what is absent or no UUID', async () => {
    const ids = [await parcel(), await parcel(), await parcel()];
    await read(async ctx => {
      const count = statements();
      const keys = [ids[2]!, 'no uuid', ids[0]!.toUpperCase(), randomUUID(), ids[2]!];
      const rows = await rowsBy(ctx, Parcel, 'id', keys);
      expect(rows.map(row => row?.id ?? null)).toEqual([ids[2], null, ids[0], null, ids[2]]);
      expect(count()).toBe(1);
    });
  });

  test('by a text are compared as they are', async () => {
    const id = await parcel();
    const found = await read(ctx => rowsBy(ctx, Parcel, 'code', [`p-${id}`, `P-${id}`]));
    expect(found.map(row => row?.id ?? null)).toEqual([id, null]);
  });

  test('are those of the further condition only', async () => {
    const [ours, theirs] = [await parcel(), await parcel(OTHER)];
    const found = await read(ctx => rowsBy(ctx, Parcel, 'id', [theirs, ours], { ownerId: OWNER }));
    expect(found.map(row => row?.id ?? null)).toEqual([null, ours]);
  });

  test('that are loaded one by one in a request are one statement', async () => {
    const ids = [await parcel(), await parcel()];
    await read(async ctx => {
      const count = statements();
      const rows = await Promise.all([...ids, ids[0]!].map(id => loadRow(ctx, Parcel, 'id', id)));
      expect(rows.map(row => row?.id)).toEqual([...ids, ids[0]]);
      expect(count()).toBe(1);
    });
  });
});

describe('references', () => {
  const asOwner = <T>(work: (ctx: Context) => Promise<T>): Promise<T> =>
    started.host.context(internalRequest({ ...CALLER, userId: OWNER })).then(work);

  test('are loaded with the owner in the condition, and what is shown is noted', async () => {
    const [ours, theirs] = [await parcel(), await parcel(OTHER)];
    const noted: string[] = [];
    const load = rowReferences(Parcel, {
      where: ctx => ({ ownerId: ctx.caller.userId! }),
      onRead: async (_ctx, rows) => void noted.push(...rows.map(row => row.id)),
    });
    const found = await asOwner(ctx => load(ctx, [{ id: theirs }, { id: ours }]));
    expect(found.map(row => (row as Parcel | null)?.id ?? null)).toEqual([null, ours]);
    expect(noted).toEqual([ours]);
  });

  test('are nothing to a caller whom the rule refuses, by another key too', async () => {
    const id = await parcel();
    const shown = rowReferences(Parcel, { key: 'code', readers: { service: 'admin:payments' } });
    const refused = rowReferences(Parcel, { key: 'code', readers: { service: 'admin:clinical' } });
    expect(await asOwner(ctx => shown(ctx, [{ code: `p-${id}` }]))).toMatchObject([{ id }]);
    expect(await asOwner(ctx => refused(ctx, [{ code: `p-${id}` }]))).toEqual([null]);
  });

  test('to what others own are answered as they were asked', async () => {
    const asked = [{ __typename: 'User', id: 'a' }];
    const [answered] = await read(ctx => stubReferences(ctx, asked));
    expect(answered).toEqual(asked[0]);
    expect(answered).not.toBe(asked[0]);
  });
});

describe('facts that were found before a transaction', () => {
  const [weight, price] = [1, 2].map(factor => preparation(async (_ctx: Context, { n }: { n: number }) => n * factor));

  test('are read by the preparation that found them', async () => {
    const ctx = await read(async one => one);
    ctx.facts = await weight!.run(ctx, { n: 5 });
    expect(weight!.of(ctx)).toBe(5);
  });

  test('are refused to another preparation, and to work that was not prepared', async () => {
    const ctx = await read(async one => one);
    expect(() => weight!.of(ctx)).toThrow('this work was not prepared');
    ctx.facts = await weight!.run(ctx, { n: 5 });
    expect(() => price!.of(ctx)).toThrow('this work was not prepared');
  });
});

describe('a message that is asked of comms', () => {
  const asked = async (to: Recipient, dedupeKey = 'k') => {
    const ctx = await read(async one => one);
    const emit = vi.spyOn(ctx, 'emit').mockReturnValue(undefined);
    requestMessage(ctx, to, { template: 'receipt', params: {}, dedupeKey });
    return emit.mock.calls[0]!;
  };

  test.each([
    [{ userId: OWNER }, 'user', null, OWNER],
    [{ staffId: OTHER }, 'staff', OTHER, null],
    [{ staffRole: 'finance' }, 'staff_role', 'finance', null],
    [{ clientOwner: 'shop' }, 'client_owner', 'shop', null],
  ] as const)('to %j names the recipient and no address', async (to, recipient_type, recipient_id, userId) => {
    const [event, data, about] = await asked(to);
    expect(event).toBe(messageSendRequested);
    expect(data).toMatchObject({ recipient_type, recipient_id, channels: ['email'], category: 'transactional', send_after: null });
    expect(about).toEqual({ userId });
  });

  test('has a dedupe key of at most 200 characters', async () => {
    const [, data] = await asked({ userId: OWNER }, 'k'.repeat(300));
    expect((data as { dedupe_key: string }).dedupe_key).toHaveLength(200);
  });
});
