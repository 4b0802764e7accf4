import { prepared } from '../../../events/prepared.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { keepHeads, signerOf, type SignedHead } from '../ports/signer.js';
import { blockHash, GENESIS, MAX_LEAVES, merkleRoot } from '../rules/chain.js';

/** One sealer at a time, in whatever process. It takes no lock that a posting needs. */
const ALONE = `select pg_try_advisory_xact_lock(hashtextextended('accounting.sealer', 5)) as ok`;

const NOBODY = '00000000-0000-0000-0000-000000000000';

interface Tip {
  height: string;
  to_sequence: string;
  hash: Buffer;
  last_xid: string;
  last_id: string;
  sealed_ms: number;
}

const TIP = `
select height, to_sequence, hash, last_xid::text, last_id, (extract(epoch from sealed_at) * 1000)::float8 as sealed_ms
from accounting.chain_block order by height desc limit 1`;

/** Committed rows below the oldest transaction that still runs: none can come before them any more. Source: accounting 7.6. */
const NEXT = `
select t.id, t.content_hash, t.xid::text as xid from accounting.ledger_transaction t
where (t.xid, t.id) > ($1::xid8, $2::uuid) and t.xid < pg_snapshot_xmin(pg_current_snapshot())
order by t.xid, t.id limit ${MAX_LEAVES}`;

/** Whether there is a row to seal or a head to sign: one look without the lock, most of the time the only one. */
const WORK = `
select exists (select from accounting.ledger_transaction t left join (${TIP}) b on true
    where (t.xid, t.id) > (coalesce(b.last_xid, '0')::xid8, coalesce(b.last_id, '${NOBODY}'::uuid)) and t.xid < pg_snapshot_xmin(pg_current_snapshot())) as rows,
  exists (select from accounting.chain_block b
    where b.height > coalesce((select max(h.height) from accounting.chain_head h), 0) and b.sealed_at < $1::timestamptz) as heads`;

const LEAVES = `
insert into accounting.chain_leaf (sequence, transaction_id, height, content_hash)
select $1::bigint + n.place - 1, n.id, $2, decode(n.hash, 'hex') from unnest($3::uuid[], $4::text[]) with ordinality n(id, hash, place)`;

const BLOCK = `
insert into accounting.chain_block (height, from_sequence, to_sequence, merkle_root, previous_hash, hash, sealed_at, last_xid, last_id)
values ($1, $2, $3, $4, $5, $6, $7, $8::xid8, $9)`;

interface Row {
  id: string;
  content_hash: Buffer;
  xid: string;
}

const FIRST: Tip = {
  height: '0',
  to_sequence: '0',
  hash: GENESIS,
  last_xid: '0',
  last_id: NOBODY,
  sealed_ms: 0,
};

async function addBlock(ctx: Context, tip: Tip, rows: readonly Row[]): Promise<void> {
  const [height, fromSequence] = [Number(tip.height) + 1, Number(tip.to_sequence) + 1];
  const toSequence = fromSequence + rows.length - 1;
  const sealedAt = new Date(Math.max(ctx.now().getTime(), tip.sealed_ms));
  const root = merkleRoot(rows.map(row => row.content_hash));
  const hash = blockHash({ previousHash: tip.hash, height, fromSequence, toSequence, merkleRoot: root, sealedAt });
  const last = rows.at(-1)!;
  await ctx.sql(LEAVES, [fromSequence, height, rows.map(row => row.id), rows.map(row => row.content_hash.toString('hex'))]);
  await ctx.sql(BLOCK, [height, fromSequence, toSequence, root, tip.hash, hash, sealedAt.toISOString(), last.xid, last.id]);
}

/** Seals what is committed, one block. Answers whether there may be more. */
async function sealBlock(ctx: Context): Promise<boolean> {
  const [lock] = await ctx.sql<{ ok: boolean }>(ALONE);
  if (!lock!.ok) return false;
  const [tip = FIRST] = await ctx.sql<Tip>(TIP);
  const rows = await ctx.sql<Row>(NEXT, [tip.last_xid, tip.last_id]);
  if (rows.length > 0) await addBlock(ctx, tip, rows);
  return rows.length === MAX_LEAVES;
}

interface HeadRow {
  height: string;
  hash: Buffer;
  sealed_ms: number;
}

/** The last block of each minute that is over and has no head. */
const DUE_HEADS = `
select distinct on (date_trunc('minute', b.sealed_at)) b.height, b.hash, (extract(epoch from b.sealed_at) * 1000)::float8 as sealed_ms
from accounting.chain_block b
where b.height > coalesce((select max(h.height) from accounting.chain_head h), 0) and b.sealed_at < $1::timestamptz
order by date_trunc('minute', b.sealed_at), b.height desc`;

const KEY = `
insert into accounting.chain_key (key_id, public_key, valid_from) values ($1, $2, $3) on conflict do nothing`;

const HEADS = `
insert into accounting.chain_head (height, hash, sealed_at, key_id, signature)
select n.height, decode(n.hash, 'hex'), n.sealed_at, $4, decode(n.signature, 'hex')
from unnest($1::bigint[], $2::text[], $3::timestamptz[], $5::text[]) n(height, hash, sealed_at, signature)`;

const minuteOf = (ctx: Context): string => new Date(Math.floor(ctx.now().getTime() / MINUTE_MS) * MINUTE_MS).toISOString();

/** Signs the heads of the minutes that are over: the file has them before the table does. */
async function signHeads(ctx: Context): Promise<void> {
  const due = await ctx.sql<HeadRow>(DUE_HEADS, [minuteOf(ctx)]);
  if (due.length === 0) return;
  const signer = signerOf(ctx.host.config);
  const heads: SignedHead[] = due.map(row =>
    signer.sign({ height: Number(row.height), hash: row.hash, sealedAt: new Date(Math.round(row.sealed_ms)) }),
  );
  await keepHeads(ctx.host.config, heads);
  await ctx.sql(KEY, [signer.keyId, signer.publicKey, heads[0]!.sealedAt.toISOString()]);
  await ctx.sql(HEADS, [
    heads.map(one => one.height),
    heads.map(one => one.hash.toString('hex')),
    heads.map(one => one.sealedAt.toISOString()),
    signer.keyId,
    heads.map(one => one.signature.toString('hex')),
  ]);
}

/** Seals everything that is committed, and signs what is due. */
export async function seal(host: ServiceHost): Promise<void> {
  const [work] = await host.read(ctx => ctx.sql<{ rows: boolean; heads: boolean }>(prepared(WORK), [minuteOf(ctx)]));
  if (work!.rows) while (await host.transaction(sealBlock));
  if (!work!.heads) return;
  await host.transaction(async ctx => {
    const [lock] = await ctx.sql<{ ok: boolean }>(ALONE);
    if (lock!.ok) await signHeads(ctx);
  });
}
