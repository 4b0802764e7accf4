import type { Context } from '../../../runtime/request/context.js';
import type { EntryDirection, LedgerTransactionKind } from '../entities/enums.js';
import type { HashedTransaction } from '../rules/canonical.js';

/** A transaction as its rows have it, with what the chain says of it. */
export interface SealedRow {
  sequence: number;
  transactionId: string;
  height: number;
  /** Of the leaf, and of the transaction's row. */
  leafHash: Buffer;
  rowHash: Buffer | null;
  /** Null: the row is gone. */
  transaction: HashedTransaction | null;
  /** `xid` and id, in whose order rows are sealed. */
  xid: bigint;
  /** Columns of entries repeat what the transaction and its account say. */
  isConsistent: boolean;
}

interface Row {
  sequence: string;
  leaf_id: string;
  height: string;
  leaf_hash: Buffer;
  id: string | null;
  kind: LedgerTransactionKind;
  service: string;
  type: string;
  source_id: string;
  rule_version: number | null;
  effective_ms: number;
  pending_id: string | null;
  reverses: string | null;
  metadata: unknown;
  content_hash: Buffer | null;
  xid: string | null;
  codes: string[] | null;
  directions: string;
  amounts: string[];
  currencies: string[];
  consistent: boolean | null;
}

/** Leaves with their transactions and entries; arrays are cheaper to read than objects. */
const ROWS = `
select l.sequence, l.transaction_id as leaf_id, l.height, l.content_hash as leaf_hash, t.id, t.kind, t.source_service as service, t.source_type as type,
  t.source_id, t.rule_version, (extract(epoch from t.effective_at) * 1000)::float8 as effective_ms, t.pending_id, t.reverses, t.metadata,
  t.content_hash, t.xid::text as xid, e.codes, e.directions, e.amounts, e.currencies, e.consistent
from accounting.chain_leaf l left join accounting.ledger_transaction t on t.id = l.transaction_id
left join lateral (
  select array_agg(a.code order by e.line) as codes, string_agg(left(e.direction, 1), '' order by e.line) as directions,
    array_agg(e.amount::text order by e.line) as amounts, array_agg(e.currency::text order by e.line) as currencies,
    bool_and(e.effective_at = t.effective_at and e.currency = a.currency and e.posted = (t.kind not in ('pending', 'void_pending'))) as consistent
  from accounting.ledger_entry e left join accounting.ledger_account a on a.id = e.account_id where e.transaction_id = t.id) e on true
where l.sequence between $1 and $2 order by l.sequence`;

const DIRECTIONS: Readonly<Record<string, string>> = { d: 'debit', c: 'credit' };

function transactionOf(row: Row): HashedTransaction | null {
  if (row.id === null) return null;
  const entries = (row.codes ?? []).map((accountCode, at) => ({
    accountCode,
    direction: DIRECTIONS[row.directions[at]!] as EntryDirection,
    amount: Number(row.amounts[at]),
    currency: row.currencies[at]!,
  }));
  const { id, kind, service, type, source_id, rule_version, pending_id, reverses, metadata } = row;
  const source = { service, type, id: source_id, ruleVersion: rule_version };
  return { id, kind, source, entries, effectiveAt: new Date(Math.round(row.effective_ms)), pendingId: pending_id, reverses, metadata };
}

/** What the rows of a range of sequences hold now. */
export async function sealedRows(ctx: Context, from: number, to: number): Promise<SealedRow[]> {
  const rows = await ctx.sql<Row>(ROWS, [from, to]);
  return rows.map(row => ({
    sequence: Number(row.sequence),
    transactionId: row.leaf_id,
    height: Number(row.height),
    leafHash: row.leaf_hash,
    rowHash: row.content_hash,
    transaction: transactionOf(row),
    xid: BigInt(row.xid ?? 0),
    isConsistent: row.consistent ?? false,
  }));
}
