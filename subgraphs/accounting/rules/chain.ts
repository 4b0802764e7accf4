import { canonicalize } from 'json-canonicalize';
import { LedgerProofSide } from '../entities/enums.js';
import { sha256 } from './canonical.js';

/** Leaves of a block at most. */
export const MAX_LEAVES = 1024;

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);
const leafHash = (content: Uint8Array): Buffer => sha256(LEAF, content);
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(NODE, left, right);

/** The largest power of two below `count`. */
const splitOf = (count: number): number => 2 ** (Math.ceil(Math.log2(count)) - 1);

/** Merkle tree hash of at least one content hash. Source: RFC 6962, 2.1. */
export function merkleRoot(contents: readonly Uint8Array[]): Buffer {
  if (contents.length === 1) return leafHash(contents[0]!);
  const split = splitOf(contents.length);
  return nodeHash(merkleRoot(contents.slice(0, split)), merkleRoot(contents.slice(split)));
}

export interface ProofStep {
  side: LedgerProofSide;
  hash: Buffer;
}

/** Audit path of the leaf at `index`, from the leaf to the root. Source: RFC 6962, 2.1.1. */
export function auditPath(contents: readonly Uint8Array[], index: number): ProofStep[] {
  if (contents.length === 1) return [];
  const split = splitOf(contents.length);
  if (index < split)
    return [...auditPath(contents.slice(0, split), index), { side: LedgerProofSide.RIGHT, hash: merkleRoot(contents.slice(split)) }];
  return [...auditPath(contents.slice(split), index - split), { side: LedgerProofSide.LEFT, hash: merkleRoot(contents.slice(0, split)) }];
}

export interface BlockContent {
  previousHash: Uint8Array;
  height: number;
  fromSequence: number;
  toSequence: number;
  merkleRoot: Uint8Array;
  sealedAt: Date;
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

/** What the first block names as the one before it. */
export const GENESIS = Buffer.alloc(32);

/** SHA-256 of previous (32 bytes), height, from, to (8 bytes each, big-endian), root (32 bytes) and `sealed_at` (RFC 3339, ms, UTC). Source: accounting 7.6. */
export const blockHash = ({ previousHash, height, fromSequence, toSequence, merkleRoot: root, sealedAt }: BlockContent): Buffer =>
  sha256(previousHash, number(height), number(fromSequence), number(toSequence), root, sealedAt.toISOString());

/** What is signed of a minute's last block. */
export const headContent = ({ height, hash, sealedAt }: { height: number; hash: Uint8Array; sealedAt: Date }): string =>
  canonicalize({ height, hash: Buffer.from(hash).toString('hex'), sealed_at: sealedAt.toISOString() });
