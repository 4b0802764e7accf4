import type { Context } from '../../../runtime/request/context.js';
import type { LedgerChainVerification } from '../entities/chain.js';
import { keptHeads, signerOf, type SignedHead } from '../ports/signer.js';
import { contentHash } from '../rules/canonical.js';
import { blockHash, GENESIS, merkleRoot } from '../rules/chain.js';
import { allHeads, blocksFrom, blocksOver, lastBlock, shownBlock, type Block } from './chain.js';
import { sealedRows, type SealedRow } from './hashed-rows.js';

interface Fault {
  sequence: number;
  reason: string;
}

/** Rows that are read at once, at least; whole blocks. */
const CHUNK = 4096;

/** What is wrong with a row itself: it is gone, or no longer says what was sealed. */
function rowFault({ sequence, transaction, leafHash, rowHash, isConsistent }: SealedRow): Fault | null {
  if (!transaction || !rowHash) return { sequence, reason: 'row_missing' };
  const isSame = contentHash(transaction).equals(leafHash) && rowHash.equals(leafHash);
  return isSame && isConsistent ? null : { sequence, reason: 'row_changed' };
}

/** Rows of a block: all there, as sealed, in the order of their (xid, id). */
function blockFault(block: Block, rows: readonly SealedRow[]): Fault | null {
  const { fromSequence, toSequence, height } = block;
  let before: SealedRow | null = null;
  for (let sequence = fromSequence; sequence <= toSequence; sequence++) {
    const row = rows[sequence - fromSequence];
    if (!row || row.sequence !== sequence || row.height !== height) return { sequence, reason: 'row_missing' };
    const fault = rowFault(row);
    if (fault) return fault;
    const isBehind = before && (row.xid < before.xid || (row.xid === before.xid && row.transactionId <= before.transactionId));
    if (isBehind) return { sequence: before!.sequence, reason: 'order_changed' };
    before = row;
  }
  const isRoot = merkleRoot(rows.map(row => row.leafHash)).equals(block.merkleRoot);
  return isRoot ? null : { sequence: fromSequence, reason: 'root_mismatch' };
}

/** A block follows the one before it, by its hash and its numbers. */
function linkFault(block: Block, previous: Block | null): Fault | null {
  const [height, from, hash] = previous ? [previous.height + 1, previous.toSequence + 1, previous.hash] : [1, 1, GENESIS];
  const follows = block.height === height && block.fromSequence === from && block.previousHash.equals(hash);
  return follows && blockHash(block).equals(block.hash) ? null : { sequence: Math.min(block.fromSequence, from), reason: 'chain_broken' };
}

/** Signed heads know better than the table what its blocks were. */
function headFault(
  heads: readonly SignedHead[],
  blocks: ReadonlyMap<number, Block>,
  last: Block | null,
  signer: ReturnType<typeof signerOf>,
): Fault | null {
  for (const head of heads) {
    const block = blocks.get(head.height);
    if (!block) return { sequence: (last?.toSequence ?? 0) + 1, reason: 'head_missing' };
    const isSame = block.hash.equals(head.hash) && block.sealedAt.getTime() === head.sealedAt.getTime();
    if (!signer.hasSigned(head) || !isSame) return { sequence: block.fromSequence, reason: 'head_mismatch' };
  }
  return null;
}

/** A row that is older than the last sealed one and was not sealed with it was added later. */
const ADDED = `
select 1 from accounting.ledger_transaction t, (select last_xid, last_id from accounting.chain_block order by height desc limit 1) tip
where (t.xid, t.id) <= (tip.last_xid, tip.last_id) and not exists (select 1 from accounting.chain_leaf l where l.transaction_id = t.id) limit 1`;

/** The first entry whose running balance does not follow from the one before it. Source: accounting 7.5. */
const BROKEN_BALANCE = `
select min(l.sequence) as sequence from (
  select e.transaction_id, e.account_version, e.balance_after,
    case when e.direction = a.normal_side then e.amount else - e.amount end as signed,
    lag(e.account_version, 1, 0::bigint) over w as version_before, lag(e.balance_after, 1, 0::bigint) over w as balance_before
  from accounting.ledger_entry e join accounting.ledger_account a on a.id = e.account_id where e.account_version is not null
  window w as (partition by e.account_id order by e.account_version)) chain
left join accounting.chain_leaf l on l.transaction_id = chain.transaction_id
where chain.account_version <> chain.version_before + 1 or chain.balance_after <> chain.balance_before + chain.signed having count(*) > 0`;

/** Groups of whole blocks of some thousand rows. */
function chunked(blocks: readonly Block[]): Block[][] {
  const chunks: Block[][] = [];
  let rows = CHUNK;
  for (const block of blocks) {
    if (rows >= CHUNK) rows = chunks.push([]) && 0;
    chunks.at(-1)!.push(block);
    rows += block.toSequence - block.fromSequence + 1;
  }
  return chunks;
}

async function chunkFault(ctx: Context, blocks: readonly Block[]): Promise<Fault | null> {
  const rows = await sealedRows(ctx, blocks[0]!.fromSequence, blocks.at(-1)!.toSequence);
  for (const block of blocks) {
    const own = rows.filter(row => row.sequence >= block.fromSequence && row.sequence <= block.toSequence);
    const fault = blockFault(block, own);
    if (fault) return fault;
  }
  return null;
}

/** The first of some faults by sequence; of one sequence the first that was found. */
const firstOf = (faults: readonly (Fault | null)[]): Fault | null =>
  faults.filter(one => one !== null).sort((a, b) => a.sequence - b.sequence)[0] ?? null;

async function rowsFault(ctx: Context, blocks: readonly Block[]): Promise<Fault | null> {
  for (const chunk of chunked(blocks)) {
    const fault = await chunkFault(ctx, chunk);
    if (fault) return fault;
  }
  return null;
}

async function linksFault(ctx: Context, blocks: readonly Block[]): Promise<Fault | null> {
  const [before = null] = blocks[0] && blocks[0].height > 1 ? await blocksFrom(ctx, blocks[0].height - 1, blocks[0].height - 1) : [];
  let previous: Block | null = before;
  for (const block of blocks) {
    const fault = linkFault(block, previous);
    if (fault) return fault;
    previous = block;
  }
  return null;
}

/** What only the whole ledger can show: rows that were put in, and running balances. */
async function wholeFault(ctx: Context, last: Block | null): Promise<Fault | null> {
  const next = (last?.toSequence ?? 0) + 1;
  const [added] = await ctx.sql(ADDED);
  if (added) return { sequence: next, reason: 'row_added' };
  const [broken] = await ctx.sql<{ sequence: string | null }>(BROKEN_BALANCE);
  return broken ? { sequence: Number(broken.sequence ?? next), reason: 'balance_broken' } : null;
}

/**
 * Recomputes every hash from the rows and compares it with leaves, blocks and the signed heads of table and file. A range checks its own
 * blocks; without one the whole ledger is checked. Source: accounting 7.7.
 */
export async function verifyChain(ctx: Context, from: number | null, to: number | null): Promise<LedgerChainVerification> {
  const isWhole = from === null && to === null;
  const last = await lastBlock(ctx);
  const blocks = await blocksOver(ctx, from ?? 1, to ?? Number.MAX_SAFE_INTEGER);
  const heights = new Map(blocks.map(block => [block.height, block]));
  const heads = [...(await allHeads(ctx)), ...(await keptHeads(ctx.host.config))].filter(head => isWhole || heights.has(head.height));
  const sealed = firstOf([
    await rowsFault(ctx, blocks),
    await linksFault(ctx, blocks),
    headFault(heads, heights, last, signerOf(ctx.host.config)),
  ]);
  const fault = sealed ?? (isWhole ? await wholeFault(ctx, last) : null);
  return {
    ok: fault === null,
    blocksChecked: blocks.length,
    transactionsChecked: blocks.reduce((sum, block) => sum + block.toSequence - block.fromSequence + 1, 0),
    headsChecked: new Set(heads.map(head => head.height)).size,
    firstBadSequence: fault?.sequence ?? null,
    reason: fault?.reason ?? null,
    head: last && shownBlock(last),
  };
}
