import { reachesAll } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { PROOF_READERS } from '../entities/access.js';
import type { LedgerInclusionProof } from '../entities/chain.js';
import { LedgerTransaction } from '../entities/transaction.js';
import { canonicalOf } from '../rules/canonical.js';
import { auditPath } from '../rules/chain.js';
import { blocksFrom, headAbove, shownBlock, shownHead } from './chain.js';
import { sealedRows, type SealedRow } from './hashed-rows.js';
import { loadSeal } from './transactions.js';

const OWNED = `
select 1 from accounting.ledger_entry e join accounting.ledger_account a on a.id = e.account_id where e.transaction_id = $1 and a.user_id = $2 limit 1`;

/** A member proves transactions that touch an account of the own. */
async function mayProve(ctx: Context, id: string): Promise<boolean> {
  const { caller } = ctx;
  if (reachesAll(PROOF_READERS, caller)) return true;
  return (await ctx.sql(OWNED, [id, caller.userId])).length > 0;
}

async function receipt(
  ctx: Context,
  { transactionId, transaction, leafHash }: SealedRow,
  height: number,
  rows: readonly SealedRow[],
  index: number,
) {
  const head = await headAbove(ctx, height);
  const chain = (await blocksFrom(ctx, height, head?.height ?? null)).map(shownBlock);
  const path = auditPath(
    rows.map(row => row.leafHash),
    index,
  ).map(({ side, hash }) => ({ side, hash: hash.toString('hex') }));
  const canonical = canonicalOf(transaction!);
  return { transactionId, contentHash: leafHash.toString('hex'), canonical, path, block: chain[0]!, chain, head: head && shownHead(head) };
}

/** The receipt of a transaction. @throws Problem not_found, also to who has no part in it; conflict while it is not sealed, and where its row is no longer what was sealed. */
export async function inclusionProof(ctx: Context, id: string): Promise<LedgerInclusionProof> {
  const found = (await findRow(ctx, LedgerTransaction, { id })) ?? fail('not_found', 'Not found');
  if (!(await mayProve(ctx, found.id))) fail('not_found', 'Not found');
  const seal = (await loadSeal(ctx, found.id)) ?? fail('conflict', 'The transaction is not sealed yet', { reason: 'not_sealed' });
  const height = Number(seal.height);
  const [block] = await blocksFrom(ctx, height, height);
  const rows = await sealedRows(ctx, block!.fromSequence, block!.toSequence);
  const index = rows.findIndex(row => row.transactionId === found.id);
  return receipt(ctx, rows[index]!, height, rows, index);
}
