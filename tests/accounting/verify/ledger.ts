import { blockHash, hash, jcs, treeHead, type ChainBlock } from './canonical.js';
import { isSigned, type Head, type PublicKey } from './signature.js';

/** Reads the tables of the ledger, however. */
export type Read = <Row>(text: string) => Promise<Row[]>;

interface StoredTransaction {
  sequence: number;
  transaction_id: string;
  leaf: string;
  canonical: object | null;
  balanced: boolean | null;
}

const INSTANT = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const TRANSACTIONS = `
select l.sequence::float8 as sequence, l.transaction_id, encode(l.content_hash, 'hex') as leaf,
  (select sum(case e.direction when 'debit' then e.amount else - e.amount end) = 0 from accounting.ledger_entry e where e.transaction_id = t.id) as balanced,
  case when t.id is not null then json_build_object('id', t.id, 'kind', t.kind,
    'source', json_build_object('service', t.source_service, 'type', t.source_type, 'id', t.source_id, 'rule_version', t.rule_version),
    'entries', (select json_agg(json_build_object('line', e.line, 'account', a.code, 'direction', e.direction, 'amount', e.amount, 'currency', e.currency)
      order by e.line) from accounting.ledger_entry e join accounting.ledger_account a on a.id = e.account_id where e.transaction_id = t.id),
    'effective_at', ${INSTANT('t.effective_at')}, 'pending_id', t.pending_id, 'reverses', t.reverses, 'metadata', t.metadata) end as canonical
from accounting.chain_leaf l left join accounting.ledger_transaction t on t.id = l.transaction_id order by l.sequence`;

const BLOCKS = `
select height::float8 as height, from_sequence::float8 as from_sequence, to_sequence::float8 as to_sequence, encode(merkle_root, 'hex') as merkle_root,
  encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash, ${INSTANT('sealed_at')} as sealed_at
from accounting.chain_block order by height`;

export interface Finding {
  sequence: number;
  what: 'changed' | 'missing' | 'unbalanced' | 'block' | 'head';
}

/** Transactions that are not what was sealed. */
function rowFindings(rows: readonly StoredTransaction[], until: number): Finding[] {
  const bySequence = new Map(rows.map(row => [row.sequence, row]));
  const findings: Finding[] = [];
  for (let sequence = 1; sequence <= until; sequence++) {
    const row = bySequence.get(sequence);
    if (!row?.canonical) findings.push({ sequence, what: 'missing' });
    else if (hash(jcs(row.canonical)).toString('hex') !== row.leaf) findings.push({ sequence, what: 'changed' });
    else if (!row.balanced) findings.push({ sequence, what: 'unbalanced' });
  }
  return findings;
}

/** Blocks that do not hold together: content, order of the leaves, or the link to the one before. */
function blockFindings(blocks: readonly ChainBlock[], rows: readonly StoredTransaction[]): Finding[] {
  let previous = { hash: '00'.repeat(32), to_sequence: 0, height: 0 };
  const findings: Finding[] = [];
  for (const block of blocks) {
    const leaves = rows.filter(row => row.sequence >= block.from_sequence && row.sequence <= block.to_sequence);
    const follows =
      block.previous_hash === previous.hash && block.from_sequence === previous.to_sequence + 1 && block.height === previous.height + 1;
    const holds = leaves.length > 0 && treeHead(leaves.map(row => Buffer.from(row.leaf, 'hex'))).toString('hex') === block.merkle_root;
    if (!follows || !holds || blockHash(block) !== block.hash) findings.push({ sequence: block.from_sequence, what: 'block' });
    previous = block;
  }
  return findings;
}

/** Signed heads that no block of the table is, or whose signature is none. */
const headFindings = (heads: readonly Head[], keys: readonly PublicKey[], blocks: readonly ChainBlock[]): Finding[] =>
  heads.flatMap(head => {
    const block = blocks.find(one => one.height === head.height);
    const isSame = block?.hash === head.hash && block.sealed_at === head.sealed_at && isSigned(head, keys);
    return isSame ? [] : [{ sequence: block?.from_sequence ?? (blocks.at(-1)?.to_sequence ?? 0) + 1, what: 'head' as const }];
  });

/** Everything that is wrong with the tables, held against heads and keys that were kept elsewhere; lowest sequence first. */
export async function ledgerFindings(read: Read, heads: readonly Head[], keys: readonly PublicKey[]): Promise<Finding[]> {
  const [rows, blocks] = [await read<StoredTransaction>(TRANSACTIONS), await read<ChainBlock>(BLOCKS)];
  const until = Math.max(0, ...blocks.map(block => block.to_sequence));
  const findings = [...rowFindings(rows, until), ...blockFindings(blocks, rows), ...headFindings(heads, keys, blocks)];
  return findings.sort((a, b) => a.sequence - b.sequence);
}
