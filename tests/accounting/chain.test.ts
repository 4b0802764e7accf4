import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { seal } from '../../subgraphs/accounting/commands/sealing.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { askedDuring } from '../support/statements.js';
import { until } from '../support/until.js';
import { cashOf, Ledger } from './ledger.js';
import { blockHash, hash, jcs, treeHead, type ChainBlock } from './verify/canonical.js';
import { ledgerFindings, type Finding } from './verify/ledger.js';
import { receiptFault, rootOf, type Receipt } from './verify/receipt.js';
import type { Head, PublicKey } from './verify/signature.js';

let l: Ledger;
let user: string;
let ids: string[];
let heads: Head[];
let keys: PublicKey[];

const signed = async (count: number): Promise<Head[]> => {
  const read = async () => (await l.p.rest('GET', '/accounting/v1/chain/heads?limit=100')).body.data as Head[];
  return until('signed heads', read, found => found.length >= count);
};

/** Five transactions in two minutes, both signed. */
beforeAll(async () => {
  l = await Ledger.open();
  user = DEMO;
  ids = [];
  for (const count of [3, 2]) {
    for (let at = 0; at < count; at++) ids.push(await l.fund(cashOf(user), 100 + at));
    await l.sealed();
    await l.clock({ advance: 'PT2M' });
  }
  heads = await signed(2);
  keys = (await l.p.rest('GET', '/accounting/v1/chain/keys')).body.data;
});

test('a look at a chain that has nothing to seal or to sign is one statement, and takes no lock', async () => {
  const asked = await askedDuring(l.p, () => seal(l.p.host('accounting')));
  const own = asked.map(({ text }) => text).filter(text => /accounting\.chain_|accounting\.sealer/.test(text));
  expect(own.every(text => text.includes(' as heads'))).toBe(true); // the worker looks too
  expect(own.length).toBeGreaterThan(0);
});

async function asOwner(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: l.p.env.DATABASE_URL! });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** As the owner of the database, who takes triggers away. */
async function tamper(...statements: string[]): Promise<void> {
  await asOwner(async client => {
    await client.query('set session_replication_role = replica');
    for (const text of statements) expect((await client.query(text)).rowCount, text).toBeGreaterThan(0);
  });
}

const sequenceOf = async (id: string): Promise<number> => (await l.get(`/v1/transactions/${id}`)).body.sequence;
/** Tables whose rows are for ever, each with one of its columns. */
const ADDED_TO_ONLY = {
  ledger_transaction: 'kind',
  ledger_entry: 'amount',
  pending_resolution: 'outcome',
  chain_leaf: 'content_hash',
  chain_block: 'hash',
  chain_head: 'hash',
  chain_key: 'public_key',
  posting_rule: 'definition',
};
const proof = async (id: string): Promise<Receipt> => (await l.get(`/v1/transactions/${id}/proof`)).body;
const findings = (): Promise<Finding[]> => ledgerFindings(text => l.p.sql(text), heads, keys);

describe('an honest chain', () => {
  test('is verified by the service, and by a verifier that knows nothing of it', async () => {
    const sequences = await Promise.all(ids.map(sequenceOf));
    expect([...sequences].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect(await l.verify()).toMatchObject({ ok: true, transactions_checked: 5, heads_checked: 2, first_bad_sequence: null });
    expect(await l.verify('?from=2&to=3')).toMatchObject({ ok: true });
    expect(await findings()).toEqual([]);
    const { body } = await l.get('/v1/chain/head');
    expect([body.to_sequence, body.hash]).toEqual([5, (await proof(ids[4]!)).chain.findLast(one => one.height === body.height)?.hash]);
    const first = await l.p.rest('GET', `/accounting/v1/chain/heads?to=${heads[1]!.sealed_at}`);
    expect(first.body.data).toEqual([heads[0]]);
    expect((await l.p.rest('GET', `/accounting/v1/chain/heads?from=${heads[1]!.sealed_at}`)).body.data).toEqual([heads[1]]);
  });

  test('case 9: the path of every receipt leads to the root, and with the public key alone it verifies', async () => {
    for (const id of ids) {
      const receipt = await proof(id);
      expect(rootOf(receipt)).toBe(receipt.block.merkle_root);
      expect(receiptFault(receipt, keys)).toBeNull();
    }
  });

  test('a receipt that was changed anywhere does not verify', async () => {
    const receipt = await proof(ids[0]!);
    const forged: [string, Receipt][] = [
      ['another amount', { ...receipt, canonical: receipt.canonical.replace('"amount":100', '"amount":900') }],
      ['another hash', { ...receipt, content_hash: hash('x').toString('hex') }],
      ['another root', { ...receipt, block: { ...receipt.block, merkle_root: hash('x').toString('hex') } }],
      ['another block', { ...receipt, chain: receipt.chain.map(block => ({ ...block, sealed_at: '2026-11-10T00:00:01.000Z' })) }],
      ['another head', { ...receipt, head: { ...receipt.head!, hash: hash('x').toString('hex') } }],
      ['another signature', { ...receipt, head: { ...receipt.head!, signature: Buffer.alloc(64).toString('base64') } }],
    ];
    const other = receipt.canonical.replace('"amount":100', '"amount":900');
    const invented = { ...receipt, canonical: other, content_hash: hash(other).toString('hex') };
    const fitted = { ...receipt.block, merkle_root: rootOf(invented) }; // under the hash of the signed block
    forged.push(['a root that fits another text', { ...invented, block: fitted }]);
    for (const [what, one] of forged) expect(receiptFault(one, keys), what).not.toBeNull();
    expect(receiptFault(receipt, [])).not.toBeNull();
  });

  test('the owner of a wallet in it gets the receipt, another member a 404; before it is sealed it is a 409', async () => {
    const read = async (of: string) =>
      (await l.p.rest('GET', `/accounting/v1/transactions/${ids[0]}/proof`, { token: await l.userToken(of) })).status;
    expect([await read(user), await read(DEMO2)]).toEqual([200, 404]);
    let id = '';
    await asOwner(async client => {
      await client.query('begin; select pg_current_xact_id()'); // what is not over holds the sealer back
      id = await l.fund(cashOf(user), 1);
      await seal(l.p.host('accounting'));
      expect(await l.get(`/v1/transactions/${id}/proof`)).toMatchObject({ status: 409, body: { reason: 'not_sealed' } });
      await client.query('commit');
    });
    await l.sealed();
    expect(await proof(id)).toMatchObject({ head: null, transaction_id: id });
  });

  test('rows cannot be changed, not even by the owner of the database while triggers are on', async () => {
    for (const [table, column] of Object.entries(ADDED_TO_ONLY))
      for (const change of [`update ${table} set ${column} = ${column}`, `delete from ${table}`, `truncate ${table}`]) {
        const text = change.replace(table, `accounting.${table}`);
        await expect(l.p.sql(text), text).rejects.toThrow(/append-only/);
        await expect(l.p.sql(`set role platform_accounting; ${text}`), text).rejects.toThrow(/permission denied/);
        await l.p.sql('reset role');
      }
  });

  test('the service does not own its tables, and can take no trigger away', async () => {
    const owned = await l.p.sql(
      "select 1 from pg_class where relnamespace = 'accounting'::regnamespace and relowner = 'platform_accounting'::regrole",
    );
    expect(owned).toEqual([]);
    for (const text of ['alter table accounting.ledger_entry disable trigger all', 'set session_replication_role = replica'])
      await expect(l.p.sql(`set role platform_accounting; ${text}`), text).rejects.toThrow(/must be owner|permission denied/);
    await l.p.sql('reset role');
  });

  test('an unbalanced transaction and an entry that comes later do not reach a commit', async () => {
    const insert = `insert into accounting.ledger_entry select $1, 9, gen_random_uuid(), account_id, direction, amount, currency, posted, balance_after,
      account_version + 1000, effective_at, posted_at, flow_id from accounting.ledger_entry where transaction_id = $1 limit 1`;
    await expect(l.p.sql(insert, [ids[0]])).rejects.toThrow(/with their transaction only/);
    const lonely = `insert into accounting.ledger_transaction (id, kind, source_service, source_type, source_id, description, effective_at, posted_at, metadata, content_hash)
      values (gen_random_uuid(), 'direct', 'x', 'x', 'x', '', now(), now(), '{}', '')`;
    await expect(l.p.sql(lonely)).rejects.toThrow(/not balanced/);
    const uneven = `with t as (${lonely} returning id, effective_at, posted_at)
      insert into accounting.ledger_entry select t.id, e.line, gen_random_uuid(), e.account_id, e.direction, e.amount + e.line, e.currency, e.posted, e.balance_after,
        e.account_version + 1000, t.effective_at, t.posted_at, null from t, accounting.ledger_entry e where e.transaction_id = $1`;
    await expect(l.p.sql(uneven, [ids[0]])).rejects.toThrow(/not balanced/);
  });
});

const TABLES = ['ledger_transaction', 'ledger_entry', 'chain_leaf', 'chain_block', 'chain_head'];

describe('tampering', () => {
  beforeAll(async () => {
    await l.p.sql('create schema honest');
    for (const table of TABLES) await l.p.sql(`create table honest.${table} as select * from accounting.${table}`);
  });

  afterEach(async () => {
    await asOwner(async client => {
      await client.query('begin; set local session_replication_role = replica');
      for (const table of TABLES)
        await client.query(`delete from accounting.${table}; insert into accounting.${table} select * from honest.${table}`);
      await client.query('commit');
    });
    expect(await l.verify()).toMatchObject({ ok: true });
  });

  const caught = async (reason: string, sequence: number): Promise<void> => {
    expect(await l.verify()).toMatchObject({ ok: false, reason, first_bad_sequence: sequence });
    expect((await findings())[0]?.sequence).toBe(sequence);
  };

  test('case 8: a changed amount is found at its sequence', async () => {
    await tamper(`update accounting.ledger_entry set amount = amount + 1 where transaction_id = '${ids[2]}'`);
    await caught('row_changed', await sequenceOf(ids[2]!));
  });

  test('changed metadata, source and time are found', async () => {
    await tamper(`update accounting.ledger_transaction set metadata = '{"payment_id":"x"}' where id = '${ids[1]}'`);
    await caught('row_changed', await sequenceOf(ids[1]!));
    await tamper(`update accounting.ledger_transaction set effective_at = effective_at - interval '1 day' where id = '${ids[0]}'`);
    await caught('row_changed', 1);
  });

  test('a deleted row is found', async () => {
    await tamper(`delete from accounting.ledger_transaction where id = '${ids[3]}'`);
    await caught('row_missing', await sequenceOfLeaf(ids[3]!));
  });

  test('rows in another order are found', async () => {
    const swap = (
      a: number,
      b: number,
    ) => `update accounting.chain_leaf l set transaction_id = o.transaction_id, content_hash = o.content_hash
      from accounting.chain_leaf o where l.sequence in (${a}, ${b}) and o.sequence = ${a} + ${b} - l.sequence`;
    await tamper('alter table accounting.chain_leaf drop constraint chain_leaf_transaction_id_unique').catch(() => undefined);
    await tamper(swap(1, 2));
    const { ok, first_bad_sequence } = await l.verify();
    expect([ok, first_bad_sequence]).toEqual([false, 1]);
    expect((await findings())[0]?.sequence).toBe(1);
  });

  test('a row that was put in among sealed ones is found', async () => {
    await tamper(`insert into accounting.ledger_transaction (id, kind, source_service, source_type, source_id, description, effective_at, posted_at, metadata, content_hash, xid)
      select gen_random_uuid(), kind, source_service, source_type, 'forged', description, effective_at, posted_at, metadata, content_hash, xid
      from accounting.ledger_transaction where id = '${ids[0]}'`);
    expect(await l.verify()).toMatchObject({ ok: false, reason: 'row_added' });
  });

  test('a running balance that does not follow is found', async () => {
    await tamper(
      `update accounting.ledger_entry set balance_after = balance_after + 1 where transaction_id = '${ids[2]}' and direction = 'credit'`,
    );
    expect(await l.verify()).toMatchObject({ ok: false, reason: 'balance_broken' });
  });

  test('case 15: a chain that was recomputed whole is found by its signed heads, and an old receipt still verifies', async () => {
    const receipt = await proof(ids[1]!);
    await tamper(
      `update accounting.ledger_entry set amount = amount + 5, balance_after = balance_after where transaction_id = '${ids[0]}'`,
      ...(await recomputed(ids[0]!)),
    );
    const seen = await l.verify();
    expect(seen).toMatchObject({ ok: false, reason: 'head_mismatch' });
    expect((await findings()).some(one => one.what === 'head')).toBe(true);
    expect(receiptFault(receipt, keys)).toBeNull();
  });

  test('a chain that was cut at its end is found by the heads of the file', async () => {
    await tamper(
      'delete from accounting.chain_head where height = (select max(height) from accounting.chain_head)',
      `delete from accounting.ledger_entry where transaction_id in (select transaction_id from accounting.chain_leaf where sequence > 3)`,
      `delete from accounting.ledger_transaction where id in (select transaction_id from accounting.chain_leaf where sequence > 3)`,
      'delete from accounting.chain_leaf where sequence > 3',
      'delete from accounting.chain_block where from_sequence > 3',
    );
    expect(await l.verify()).toMatchObject({ ok: false, reason: 'head_missing' });
    expect((await findings()).some(one => one.what === 'head')).toBe(true);
  });
});

const sequenceOfLeaf = async (id: string): Promise<number> =>
  Number((await l.p.sql('select sequence from accounting.chain_leaf where transaction_id = $1', [id]))[0]!.sequence);

/** What somebody with the database does: the row's hash anew, then every root and block from there on. */
async function recomputed(id: string): Promise<string[]> {
  const receipt = await proof(id);
  const content = JSON.parse(receipt.canonical) as { entries: { amount: number }[] };
  for (const entry of content.entries) entry.amount += 5;
  const forged = hash(jcs(content)).toString('hex');
  const leaves = await l.p.sql<{ sequence: string; hash: string; id: string }>(
    "select sequence, encode(content_hash, 'hex') as hash, transaction_id as id from accounting.chain_leaf order by sequence",
  );
  const blocks = await l.p.sql<ChainBlock>(
    `select height::int, from_sequence::int, to_sequence::int, to_char(sealed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as sealed_at
     from accounting.chain_block order by height`,
  );
  const statements = ['ledger_transaction where id', 'chain_leaf where transaction_id'].map(
    table => `update accounting.${table.replace(' where', ` set content_hash = '\\x${forged}' where`)} = '${id}'`,
  );
  let previous_hash = '00'.repeat(32);
  for (const block of blocks) {
    const own = leaves.filter(one => Number(one.sequence) >= block.from_sequence && Number(one.sequence) <= block.to_sequence);
    const merkle_root = treeHead(own.map(one => Buffer.from(one.id === id ? forged : one.hash, 'hex'))).toString('hex');
    const whole = { ...block, merkle_root, previous_hash };
    statements.push(
      `update accounting.chain_block set merkle_root = '\\x${merkle_root}', previous_hash = '\\x${previous_hash}', hash = '\\x${blockHash({ ...whole, hash: '' })}' where height = ${block.height}`,
    );
    previous_hash = blockHash({ ...whole, hash: '' });
  }
  return statements;
}
