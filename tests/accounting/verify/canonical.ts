/**
 * A verifier of the ledger's chain that was written apart from the service: from the documents alone (RFC 8785, RFC 6962, RFC 8032 and the
 * README of accounting), on node's own crypto. It imports nothing of the platform.
 */
import { createHash } from 'node:crypto';

/** RFC 8785: names in the order of their UTF-16 code units, no white space, strings and numbers as ECMAScript writes them. */
export function jcs(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return `{${names.map(name => `${JSON.stringify(name)}:${jcs((value as Record<string, unknown>)[name])}`).join(',')}}`;
}

export const hash = (...parts: readonly (string | Buffer)[]): Buffer => {
  const sum = createHash('sha256');
  parts.forEach(part => sum.update(part));
  return sum.digest();
};

const leaf = (content: Buffer): Buffer => hash(Buffer.of(0x00), content);
export const node = (left: Buffer, right: Buffer): Buffer => hash(Buffer.of(0x01), left, right);
export { leaf };

/** RFC 6962, 2.1, bottom up: pairs of each level, an odd one goes up as it is. */
export function treeHead(contents: readonly Buffer[]): Buffer {
  let level = contents.map(leaf);
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2) above.push(level[at + 1] ? node(level[at]!, level[at + 1]!) : level[at]!);
    level = above;
  }
  return level[0]!;
}

const wide = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

export interface ChainBlock {
  height: number;
  from_sequence: number;
  to_sequence: number;
  merkle_root: string;
  previous_hash: string;
  hash: string;
  sealed_at: string;
}

/** SHA-256(previous ‖ height ‖ from ‖ to ‖ root ‖ sealed_at), hexadecimal. */
export const blockHash = (block: ChainBlock): string =>
  hash(
    Buffer.from(block.previous_hash, 'hex'),
    wide(block.height),
    wide(block.from_sequence),
    wide(block.to_sequence),
    Buffer.from(block.merkle_root, 'hex'),
    block.sealed_at,
  ).toString('hex');
