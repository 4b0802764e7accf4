import type { DataOf } from '../../../events/define.js';
import type { paymentRefunded } from '../../../events/catalogue/payments.js';
import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { CashGrantStatus, CashMovementKind, CashSource } from '../entities/enums.js';
import { CashGrant } from '../entities/grant.js';
import { CashSpend, CashSpendLot } from '../entities/spend.js';
import type { ReturnCashInput } from '../inputs/reservation.js';
import { sumOf } from '../rules/lots.js';
import { lotsToReturn, returnedEnd, type SpentLot } from '../rules/returns.js';
import { openBook, revoke, type Book } from './book.js';
import { give } from './grant.js';

/** What brings cash back: a refund. */
interface Cause {
  referenceType: string;
  referenceId: string;
}

type SpentOf = SpentLot & { row: CashSpendLot; grant: CashGrant };

/** A spend's lots with their grants, read in the lock of the book. */
async function lotsOf(ctx: Context, { id }: CashSpend): Promise<SpentOf[]> {
  const rows = await ctx.em.find(CashSpendLot, { spendId: id }, { refresh: true });
  const grants = await ctx.em.find(CashGrant, { id: { $in: rows.map(({ grantId }) => grantId) } });
  return rows.map(row => {
    const grant = grants.find(one => one.id === row.grantId)!;
    return { id: row.id, units: row.units, givenBack: row.givenBack, position: row.position, expiresAt: grant.expiresAt, row, grant };
  });
}

/** What a cause has brought back of a spend so far. */
const returnedBy = (ctx: Context, userId: string, cause: Cause): Promise<CashGrant[]> =>
  ctx.em.find(CashGrant, { userId, source: CashSource.REFUND, ...cause });

/** Gives an amount back as new grants, one for each lot, with the lot's end and restrictions. Source: cash 3. */
async function giveBack(ctx: Context, book: Book, spend: CashSpend, wanted: number, cause: Cause): Promise<void> {
  for (const { lot, amount } of lotsToReturn(await lotsOf(ctx, spend), wanted)) {
    lot.row.givenBack += amount;
    spend.givenBack += amount;
    const { minSubtotal, subjectKinds, maxShareBps, currency } = lot.grant;
    const times = { activatesAt: book.now, expiresAt: returnedEnd(lot.expiresAt, book.now) };
    const terms = { source: CashSource.REFUND, units: amount, currency, reason: null, ...times, minSubtotal, subjectKinds, maxShareBps };
    give(ctx, book, { userId: spend.userId, ...cause, referenceKey: lot.id }, terms, CashMovementKind.RETURNED);
  }
}

/** Gives back a part of a spend, once for each reference. @throws Problem conflict for more than is left of it. */
export async function returnCash(ctx: Context, { id, amount, reference }: ReturnCashInput): Promise<CashSpend> {
  const { userId, currency } = await requireRow(ctx, CashSpend, { id });
  if (amount.currency !== currency) invalid('/input/amount/currency', 'must be that of the spend');
  if (amount.amount < 1) invalid('/input/amount/amount', 'must be at least 1');
  const book = await openBook(ctx, userId, currency);
  const spend = await lockRow(ctx, CashSpend, { id });
  const cause = { referenceType: reference.type, referenceId: reference.id.toLowerCase() };
  const before = await returnedBy(ctx, userId, cause);
  if (before.length > 0)
    return repeated(
      ctx,
      spend,
      sumOf(before, ({ units }) => units),
      amount.amount,
    );
  if (amount.amount > spend.units - spend.givenBack) fail('conflict', 'Less than that is left of the spend', { reason: 'over_spent' });
  await giveBack(ctx, book, spend, amount.amount, cause);
  ctx.audit('cash_spend.returned', spend.id, { user_id: userId, amount: amount.amount });
  return spend;
}

function repeated(ctx: Context, spend: CashSpend, returned: number, amount: number): CashSpend {
  if (returned !== amount) fail('idempotency_mismatch', 'This reference returned another amount');
  ctx.status(200);
  return spend;
}

type Refund = DataOf<typeof paymentRefunded>;

/** What a refund brings back: what it says, at most what is left; with the whole obligation refunded all that is left. Source: cash 5. */
const wantedBy = (refund: Refund, { units, givenBack }: CashSpend): number => {
  const left = units - givenBack;
  const isWhole = refund.obligation_amount != null && refund.obligation_refunded === refund.obligation_amount;
  return isWhole ? left : Math.min(refund.cash_return_amount, left);
};

/** A settled refund brings back cash of its obligation's spend, once. */
export async function returnRefunded(ctx: Context, userId: string, refund: Refund): Promise<void> {
  const { obligation_type: referenceType, obligation_id: referenceId } = refund;
  if (!referenceType || !referenceId) return; // nothing was settled
  const found = await ctx.em.findOne(CashSpend, { referenceType, referenceId, userId });
  if (!found) return;
  const book = await openBook(ctx, userId, found.currency);
  const spend = await lockRow(ctx, CashSpend, { id: found.id });
  const cause = { referenceType: 'refund', referenceId: refund.refund_id };
  const lots = await lotsOf(ctx, spend);
  if ((await returnedBy(ctx, userId, cause)).some(({ referenceKey }) => lots.some(({ id }) => id === referenceKey))) return;
  const wanted = wantedBy(refund, spend);
  await giveBack(ctx, book, spend, wanted, cause);
  if (wanted > 0) ctx.audit('cash_spend.returned', spend.id, { user_id: userId, amount: wanted, refund_id: refund.refund_id });
}

const { SCHEDULED, ACTIVE } = CashGrantStatus;

/** Undoes what one grant of a bounced refund has brought: what is unspent goes, and with it the mark on the lot. */
async function takeBack(ctx: Context, book: Book, grant: CashGrant, refundId: string): Promise<number> {
  const [units, by] = [grant.left, { type: 'refund', id: refundId }];
  if (grant.state === ACTIVE || grant.state === SCHEDULED) revoke(ctx, book, grant, by);
  else Object.assign(grant, { revokedByType: by.type, revokedById: by.id });
  const row = await findRow(ctx, CashSpendLot, { id: grant.referenceKey });
  if (!row) return units; // of a refund into cash, which had no lot
  row.givenBack -= units;
  (await ctx.em.findOneOrFail(CashSpend, { id: row.spendId })).givenBack -= units;
  return units;
}

/** A refund that bounced takes back what it brought, as far as it is unspent, once; what is missing is an alert. Source: cash 5. */
export async function undoRefund(ctx: Context, userId: string, { refund_id: refundId, currency }: Refund): Promise<void> {
  const cause = { referenceType: 'refund', referenceId: refundId };
  const book = await openBook(ctx, userId, currency);
  const grants = (await returnedBy(ctx, userId, cause)).filter(one => one.currency === currency && one.revokedById !== refundId);
  let missing = 0;
  for (const grant of grants) missing += grant.units - (await takeBack(ctx, book, grant, refundId));
  if (grants.length > 0) ctx.audit('cash_refund.undone', refundId, { user_id: userId, grants: grants.length, missing });
  if (missing > 0) alertMissing(ctx, refundId, missing, currency);
}

function alertMissing(ctx: Context, refundId: string, missing: number, currency: string): void {
  const params = { refund_id: refundId, amount: missing, currency };
  requestMessage(
    ctx,
    { staffRole: 'finance' },
    { template: 'cash_refund_bounced', params, dedupeKey: `cash_refund_bounced:${refundId}`, subject: `refund:${refundId}` },
  );
}
