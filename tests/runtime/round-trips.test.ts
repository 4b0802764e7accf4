import { createRequire } from 'node:module';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { lastOfTransaction, prepared } from '../../events/prepared.js';
import { openOrm } from '../../runtime/data/database.js';
import { GATHER, saveRoundTrips, type PgClient } from '../../runtime/data/round-trips.js';
import { dropDatabase } from '../support/database.js';
import { seededDatabase } from '../support/platform.js';

/** MikroORM's own `pg`, of which the services' connections are; its version may differ from ours. */
const { Client } = createRequire(createRequire(import.meta.url).resolve('@mikro-orm/postgresql'))('pg') as typeof pg;

let url: string;
let client: pg.Client;
/** First letters of the messages sent to the server: Q simple statement, P parse, B bind, D describe, E execute, S sync. */
let sent: string[];

beforeAll(async () => {
  url = await seededDatabase();
  client = new Client({ connectionString: url });
  await client.connect();
  saveRoundTrips(client as unknown as PgClient);
  await client.query('create table kept (one int primary key)');
  await client.query('begin'); // the first of a connection goes by itself
  await client.query('commit');
  const { stream } = (client as unknown as { connection: { stream: { write(data: Buffer): boolean; uncork(): void } } }).connection;
  const write = stream.write.bind(stream);
  stream.write = data => (sent.push(String.fromCharCode(data[0]!)), write(data));
});
afterAll(async () => {
  await client.end();
  await dropDatabase(url);
});

async function messages(work: () => Promise<unknown>): Promise<string> {
  sent = [];
  await work();
  return sent.join('');
}
const rows = async (): Promise<number[]> => (await client.query('select one from kept order by one')).rows.map(row => row.one as number);

describe('a transaction', () => {
  test('begins with its first statement, in one message to the server', async () => {
    sent = [];
    await client.query('begin');
    expect(sent).toEqual([]);
    expect(await messages(() => client.query('insert into kept values ($1)', [1]))).toBe('BEPBDES');
    await client.query('rollback');
    expect(await rows()).toEqual([]);
  });

  test('keeps what it did at its commit', async () => {
    await client.query('begin');
    await client.query('insert into kept values ($1)', [2]);
    await client.query('insert into kept values ($1)', [3]);
    await client.query('commit');
    expect(await rows()).toEqual([2, 3]);
  });

  test('without a statement asks the server nothing', async () => {
    const asked = await messages(async () => {
      await client.query('begin');
      await client.query('commit');
      await client.query('begin');
      await client.query('rollback');
    });
    expect(asked).toBe('');
  });

  describe('whose last statement says so', () => {
    const last = lastOfTransaction('insert into kept values ($1)');
    const begun = async (): Promise<void> => void (await client.query('begin'));
    const visible = async (): Promise<number[]> => {
      const other = new Client({ connectionString: url });
      await other.connect();
      const found = await other.query('select one from kept where one > 20 order by one');
      await other.end();
      return found.rows.map(row => row.one as number);
    };

    test('commits in that statement’s message, and its commit asks the server nothing', async () => {
      await begun();
      await client.query('insert into kept values ($1)', [21]);
      expect(await messages(() => client.query(last, [22]))).toBe('PBDEBES');
      expect(await visible()).toEqual([21, 22]);
      expect(await messages(() => client.query('commit'))).toBe('');
      await begun();
      expect(await messages(() => client.query(last, [23]))).toBe('BEBDEBES'); // and begins in it, where it is the only one
      await client.query('commit');
      expect(await visible()).toEqual([21, 22, 23]);
      expect(await client.query('select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });
    });

    test('is undone as a whole when that statement fails, or the commit after it', async () => {
      await begun();
      await client.query('insert into kept values ($1)', [24]);
      await expect(client.query(last, [21])).rejects.toMatchObject({ code: '23505' });
      await client.query('rollback');
      await client.query('create table later_checked (one int references kept deferrable initially deferred)');
      await begun();
      await client.query('insert into later_checked values (99)');
      await expect(client.query(last, [25])).rejects.toMatchObject({ code: '23503' });
      await client.query('rollback');
      expect(await visible()).toEqual([21, 22, 23]);
      await begun();
      await client.query('insert into kept values ($1)', [26]);
      await client.query('commit');
      expect(await visible()).toEqual([21, 22, 23, 26]);
    });

    test('refuses what comes after that statement', async () => {
      await begun();
      await client.query(last, [27]);
      await expect(client.query('insert into kept values (28)')).rejects.toThrow('after the last one');
      await client.query('rollback');
      expect(await visible()).toEqual([21, 22, 23, 26, 27]);
    });

    test('outside a transaction it is a statement as any other', async () => {
      expect(await messages(() => client.query(last, [29]))).toBe('BDES');
      await client.query('delete from kept where one > 20');
    });
  });

  test('has failed when its first statement fails: nothing more of it runs until its rollback', async () => {
    await client.query('begin');
    await expect(client.query('insert into kept values ($1)', [2])).rejects.toMatchObject({ code: '23505' });
    await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' });
    await client.query('rollback');
    expect(await rows()).toEqual([2, 3]);
  });

  test('answers the rows of its first statement, with or without parameters', async () => {
    await client.query('begin');
    expect((await client.query('insert into kept values (8) returning one')).rows).toEqual([{ one: 8 }]);
    await client.query('rollback');
    expect(await rows()).toEqual([2, 3]);
    await client.query('begin');
    expect(await client.query('update kept set one = one where one = $1', [2])).toMatchObject({ command: 'UPDATE', rowCount: 1 });
    await client.query('commit');
  });

  test('may begin with several statements in one text, a savepoint or a statement with a callback', async () => {
    await client.query('begin');
    await client.query('insert into kept values (4); insert into kept values (5)');
    await client.query('rollback');
    await client.query('begin');
    await client.query('savepoint s');
    await client.query('insert into kept values (6)');
    await client.query('rollback to savepoint s');
    await client.query('commit');
    await client.query('begin');
    await new Promise(resolve => client.query('insert into kept values (7)', () => resolve(null)));
    await client.query('rollback');
    expect(await rows()).toEqual([2, 3]);
  });
});

test('the ORM begins its transactions in a way that is held back', async () => {
  const orm = openOrm('platform', url, [], 1);
  const sent = vi.spyOn(Client.prototype, 'query');
  const work = () => orm.em.fork().transactional(async em => void (await em.execute('select 1 as one')));
  await work(); // the first `begin` of a connection is sent alone
  sent.mockClear();
  await work();
  const own = sent.mock.calls.filter((_call, index) => new URL(url).pathname === `/${(sent.mock.contexts[index] as pg.Client).database}`); // platforms of other files go on
  const texts = own.map(([query]) => (query as unknown as { text?: string })?.text ?? query);
  expect(texts).toEqual(['select 1 as one', 'commit']);
  await orm.close(true);
});

describe('a transaction that only writes from here to its commit', () => {
  const insert = (one: number): string => `insert into "kept" ("one") values (${one})`;
  const last = lastOfTransaction('insert into kept values ($1) returning one');
  const begun = async (): Promise<void> => {
    await client.query('begin');
    await client.query('select 1');
    await client.query(GATHER);
  };
  const gathered = async (): Promise<number[]> => (await rows()).filter(one => one > 40);
  beforeAll(async () => void (await client.query(last, [41]))); // parsed by its name
  beforeEach(() => client.query('delete from kept where one > 40'));
  afterAll(() => client.query('delete from kept where one > 40'));

  test('sends rows with its last statement and the commit, in one message', async () => {
    await begun();
    const sent = await messages(async () => {
      expect(await client.query(insert(43))).toMatchObject({ command: 'INSERT', rowCount: 1, rows: [] });
      expect(await client.query(`update "kept" set "one" = 44 where "one" = 43`)).toMatchObject({ command: 'UPDATE' });
      expect((await client.query(last, [45])).rows).toEqual([{ one: 45 }]);
      await client.query('commit');
    });
    expect(sent).toBe('PBEPBEBDEBES');
    expect(await gathered()).toEqual([44, 45]);
  });

  test('begins with them, where it has sent nothing yet', async () => {
    await client.query('begin');
    await client.query(GATHER);
    await client.query(insert(46));
    expect(await messages(() => client.query(last, [47]))).toBe('BEPBEBDEBES');
    await client.query('commit');
    expect(await gathered()).toEqual([46, 47]);
  });

  test('sends them before what reads, and before its commit', async () => {
    await begun();
    await client.query(insert(48));
    expect((await client.query('select one from kept where one = 48')).rows).toEqual([{ one: 48 }]);
    await client.query(insert(49));
    await client.query('insert into kept values (50); insert into kept values (51)');
    await client.query(insert(52));
    await new Promise(resolve => client.query('select 1', () => resolve(null)));
    await client.query(insert(53));
    expect((await client.query(`insert into "kept" ("one") values (54) returning "one"`)).rows).toEqual([{ one: 54 }]);
    await client.query(insert(55));
    await client.query(prepared('select one from kept where one = $1'), [55]); // which the server has not parsed yet
    await client.query(insert(56));
    await client.query('commit');
    expect(await gathered()).toEqual([48, 49, 50, 51, 52, 53, 54, 55, 56]);
  });

  test('is undone as a whole when one of them fails, which the statement after it tells', async () => {
    for (const next of [
      () => client.query(last, [58]),
      () => client.query('select 1'),
      () => client.query('select 1; select 2'),
      () => client.query('commit'),
    ]) {
      await begun();
      await client.query(insert(57));
      await client.query(insert(2));
      await client.query(insert(59));
      await expect(next()).rejects.toMatchObject({ code: '23505', table: 'kept' });
      await client.query('rollback');
      expect(await gathered()).toEqual([]);
    }
  });

  test('forgets them at its rollback, and the next transaction gathers nothing', async () => {
    await begun();
    await client.query(insert(60));
    await client.query('rollback');
    await client.query('begin');
    expect(await messages(() => client.query(insert(61)))).toBe('BEPBDES');
    await client.query('commit');
    expect(await gathered()).toEqual([61]);
  });

  test('outside a transaction nothing is gathered', async () => {
    await client.query(GATHER);
    await client.query(insert(62));
    expect(await gathered()).toEqual([62]);
  });
});

describe('a prepared statement', () => {
  const text = prepared('select count(*)::int as rows from kept where one > $1');

  test('is parsed once per connection, also where it begins a transaction', async () => {
    const first = await messages(() => client.query(text, [0]));
    const second = await messages(() => client.query(text, [0]));
    await client.query('begin');
    const third = await messages(() => client.query(text, [2]));
    await client.query('commit');
    expect([first, second, third]).toEqual(['PBDES', 'BDES', 'BEBDES']);
  });

  test('that could not be parsed is parsed anew when what it lacked is there', async () => {
    const later = prepared('select count(*)::int as rows from later where one > $1');
    for (let n = 0; n < 2; n++) {
      await client.query('begin');
      await expect(client.query(later, [0])).rejects.toMatchObject({ code: '42P01' });
      await client.query('rollback');
    }
    await client.query('create table later (one int)');
    await client.query('begin');
    expect((await client.query(later, [0])).rows).toEqual([{ rows: 0 }]);
    await client.query('commit');
  });
});
