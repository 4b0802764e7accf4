import { blockHash, hash, jcs, leaf, node, type ChainBlock } from './canonical.js';
import { isSigned, type Head, type PublicKey } from './signature.js';

/** As GET /v1/transactions/{id}/proof gives it. */
export interface Receipt {
  transaction_id: string;
  content_hash: string;
  canonical: string;
  path: { side: 'left' | 'right'; hash: string }[];
  block: ChainBlock;
  chain: ChainBlock[];
  head: Head | null;
}

/** The root that a leaf leads to. */
export const rootOf = ({ canonical, path }: Pick<Receipt, 'canonical' | 'path'>): string =>
  path
    .reduce(
      (below, { side, hash: sibling }) =>
        side === 'left' ? node(Buffer.from(sibling, 'hex'), below) : node(below, Buffer.from(sibling, 'hex')),
      leaf(hash(canonical)),
    )
    .toString('hex');

function chainFault({ block, chain }: Receipt): string | null {
  let previous: ChainBlock | null = null;
  for (const one of chain) {
    if (blockHash(one) !== one.hash) return `the hash of block ${one.height} is not that of its content`;
    if (previous && one.previous_hash !== previous.hash) return `block ${one.height} does not follow from the one before it`;
    previous = one;
  }
  return chain[0] && jcs(chain[0]) === jcs(block) ? null : 'the chain does not begin with the block of the transaction';
}

/** What is wrong with a receipt, by the public keys alone; null: the transaction is in the books as it says. */
export function receiptFault(receipt: Receipt, keys: readonly PublicKey[]): string | null {
  const { canonical, content_hash, transaction_id, block, chain, head } = receipt;
  const content = JSON.parse(canonical) as { id: string };
  if (jcs(content) !== canonical) return 'the text is not in canonical form';
  if (content.id !== transaction_id) return 'the text is of another transaction';
  if (hash(canonical).toString('hex') !== content_hash) return 'the content hash is not that of the text';
  if (rootOf(receipt) !== block.merkle_root) return 'the path does not lead to the root of the block';
  if (!head) return 'the head is not signed yet';
  const last = chain.at(-1);
  if (last?.height !== head.height || last.hash !== head.hash) return 'the chain does not end with the signed head';
  return chainFault(receipt) ?? (isSigned(head, keys) ? null : 'the signature is not valid');
}
