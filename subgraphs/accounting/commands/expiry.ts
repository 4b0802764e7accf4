import type { Context } from '../../../runtime/request/context.js';
import { LedgerTransaction } from '../entities/transaction.js';
import { postHere } from '../ports/postgres/engine.js';
import { draftsOf } from '../ports/postgres/facts.js';
import { resolutionOf } from './resolution.js';

const BATCH = 200;
const DUE = `select transaction_id as id from accounting.pending_expiry where expires_at <= $1 order by expires_at, transaction_id limit ${BATCH}`;

/** Releases what pending transactions have reserved whose time is over. @throws Error where it cannot; it is tried again. */
export async function expireDue(ctx: Context): Promise<void> {
  const ids = (await ctx.sql<{ id: string }>(DUE, [ctx.now().toISOString()])).map(row => row.id);
  const pending = await ctx.em.find(LedgerTransaction, { id: { $in: ids } });
  const reserved = await draftsOf(ctx, ids);
  const outcomes = await postHere(
    ctx,
    pending.map(one => resolutionOf(ctx, one, reserved.get(one.id)!, 'expired')),
  );
  const refused = outcomes.find(one => one.outcome === 'rejected');
  if (refused) throw refused.problem;
}
