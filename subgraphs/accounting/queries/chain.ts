import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import type { LedgerChainBlock, LedgerChainKey, LedgerSignedHead } from '../entities/chain.js';
import type { SignedHeadsArgs } from '../inputs/report.js';
import type { SignedHead } from '../ports/signer.js';

/** A block as it is stored. */
export interface Block {
  height: number;
  fromSequence: number;
  toSequence: number;
  merkleRoot: Buffer;
  previousHash: Buffer;
  hash: Buffer;
  sealedAt: Date;
}

interface BlockRow {
  height: string;
  from_sequence: string;
  to_sequence: string;
  merkle_root: Buffer;
  previous_hash: Buffer;
  hash: Buffer;
  sealed_ms: number;
}

const SEALED = '(extract(epoch from sealed_at) * 1000)::float8 as sealed_ms';
const COLUMNS = `height, from_sequence, to_sequence, merkle_root, previous_hash, hash, ${SEALED}`;

const blockOf = (row: BlockRow): Block => ({
  height: Number(row.height),
  fromSequence: Number(row.from_sequence),
  toSequence: Number(row.to_sequence),
  merkleRoot: row.merkle_root,
  previousHash: row.previous_hash,
  hash: row.hash,
  sealedAt: new Date(Math.round(row.sealed_ms)),
});

const hex = (bytes: Buffer): string => bytes.toString('hex');

export const shownBlock = (block: Block): LedgerChainBlock => ({
  ...block,
  merkleRoot: hex(block.merkleRoot),
  previousHash: hex(block.previousHash),
  hash: hex(block.hash),
});

export async function lastBlock(ctx: Context): Promise<Block | null> {
  const [row] = await ctx.sql<BlockRow>(`select ${COLUMNS} from accounting.chain_block order by height desc limit 1`);
  return row ? blockOf(row) : null;
}

/** Blocks that hold a range of sequences, lowest first. */
export async function blocksOver(ctx: Context, from: number, to: number): Promise<Block[]> {
  const text = `select ${COLUMNS} from accounting.chain_block where to_sequence >= $1 and from_sequence <= $2 order by height`;
  return (await ctx.sql<BlockRow>(text, [from, to])).map(blockOf);
}

/** Blocks by height. */
export async function blocksFrom(ctx: Context, from: number, to: number | null): Promise<Block[]> {
  const text = `select ${COLUMNS} from accounting.chain_block where height >= $1 and ($2::bigint is null or height <= $2) order by height`;
  return (await ctx.sql<BlockRow>(text, [from, to])).map(blockOf);
}

interface HeadRow {
  height: string;
  hash: Buffer;
  key_id: string;
  signature: Buffer;
  sealed_ms: number;
}

const HEAD = `height, hash, key_id, signature, ${SEALED}`;

const headOf = (row: HeadRow): SignedHead => ({
  height: Number(row.height),
  hash: row.hash,
  keyId: row.key_id,
  signature: row.signature,
  sealedAt: new Date(Math.round(row.sealed_ms)),
});

export const shownHead = ({ height, hash, sealedAt, keyId, signature }: SignedHead): LedgerSignedHead => ({
  height,
  hash: hex(hash),
  sealedAt,
  keyId,
  signature: signature.toString('base64'),
});

export const allHeads = async (ctx: Context): Promise<SignedHead[]> =>
  (await ctx.sql<HeadRow>(`select ${HEAD} from accounting.chain_head order by height`)).map(headOf);

/** The first signed head at or above a height. */
export async function headAbove(ctx: Context, height: number): Promise<SignedHead | null> {
  const [row] = await ctx.sql<HeadRow>(`select ${HEAD} from accounting.chain_head where height >= $1 order by height limit 1`, [height]);
  return row ? headOf(row) : null;
}

const HEADS = `
select ${HEAD} from accounting.chain_head
where height > $1 and ($2::timestamptz is null or sealed_at >= $2) and ($3::timestamptz is null or sealed_at < $3) order by height limit $4`;

/** Signed heads, oldest first. */
export async function headsPage(ctx: Context, { from, to, first, after }: SignedHeadsArgs): Promise<Connection<LedgerSignedHead>> {
  const [height] = after ? decodeCursor(after, 1) : [0];
  if (!Number.isSafeInteger(height)) decodeCursor('', 1);
  const rows = await ctx.sql<HeadRow>(HEADS, [height, from?.toISOString() ?? null, to?.toISOString() ?? null, first + 1]);
  return toConnection(rows.map(headOf).map(shownHead), first, head => [head.height]);
}

const KEYS = `
select key_id, public_key, (extract(epoch from valid_from) * 1000)::float8 as from_ms,
  (extract(epoch from lead(valid_from) over (order by valid_from)) * 1000)::float8 as to_ms
from accounting.chain_key order by valid_from`;

/** Public keys, the present one last. */
export async function chainKeys(ctx: Context): Promise<LedgerChainKey[]> {
  const rows = await ctx.sql<{ key_id: string; public_key: Buffer; from_ms: number; to_ms: number | null }>(KEYS);
  return rows.map(row => ({
    keyId: row.key_id,
    publicKey: row.public_key.toString('base64'),
    validFrom: new Date(Math.round(row.from_ms)),
    validTo: row.to_ms === null ? null : new Date(Math.round(row.to_ms)),
  }));
}
