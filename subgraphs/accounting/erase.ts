import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';

const HELD = `
select (select count(*) from accounting.wallet where user_id = $1)::int as wallet,
  (select count(*) from accounting.ledger_transaction where user_id = $1)::int as ledger_transaction`;

/**
 * Deletes nothing: books are kept by law. What stays is the bare user id; metadata and descriptions never took anything else of a person.
 * Source: accounting 5.
 */
export async function erase(ctx: Context, { userId }: ErasureRequest): Promise<ErasureOutcome> {
  const [held] = await ctx.sql<{ wallet: number; ledger_transaction: number }>(HELD, [userId.toLowerCase()]);
  const isHeld = held!.wallet + held!.ledger_transaction > 0;
  return isHeld
    ? { outcome: 'retained', records: { ...held! }, basis: 'commercial and tax law: books are kept' }
    : { outcome: 'nothing_held', records: {} };
}
