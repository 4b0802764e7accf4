import type { Envelope } from '../../../events/consumer.js';
import type { DataOf } from '../../../events/define.js';
import type { paymentDisputeClosed, paymentDisputeCreated, paymentRefunded } from '../../../events/catalogue/payments.js';
import type { Context } from '../../../runtime/request/context.js';
import { Affiliate } from '../entities/affiliate.js';
import { Commission, CommissionReversal } from '../entities/commission.js';
import { CommissionReversalCause } from '../entities/enums.js';
import { ObligationDispute, ObligationRefund } from '../entities/obligation.js';
import { refundDifference, type Refunded } from '../rules/commission.js';
import { lockAffiliate, reverse, standingOf, type Open } from './ledger.js';

const { REFUND, REFUND_FAILED, DISPUTE } = CommissionReversalCause;

/** What was settled. */
interface Obligation {
  obligationType: string;
  obligationId: string;
}

type Refund = Envelope<DataOf<typeof paymentRefunded>>;

/** Keeps whoever settles, refunds or disputes one obligation in a row, whichever comes first. */
export const lockObligation = (ctx: Context, { obligationType, obligationId }: Obligation): Promise<unknown> =>
  ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`affiliates.obligation ${obligationType} ${obligationId}`]);

const commissionsOf = (ctx: Context, { obligationType, obligationId }: Obligation): Promise<Commission[]> =>
  ctx.em.find(Commission, { obligationType, obligationId }, { orderBy: { affiliateId: 'asc' } });

/** Whether a cause has had its effect on a commission. */
const isApplied = async (ctx: Context, { commission }: Open, cause: CommissionReversalCause, causeId: string): Promise<boolean> =>
  (await ctx.em.count(CommissionReversal, { commissionId: commission.id, cause, causeId })) > 0;

/** What a lost dispute has taken is not given back by anything. */
const isLost = async (ctx: Context, { obligationType, obligationId }: Obligation): Promise<boolean> =>
  (await ctx.em.count(ObligationDispute, { obligationType, obligationId, outcome: 'lost' })) > 0;

async function applyRefund(ctx: Context, open: Open, refundId: string, refunded: Refunded, isFailed: boolean): Promise<void> {
  const cause = { cause: isFailed ? REFUND_FAILED : REFUND, causeId: refundId };
  if (await isApplied(ctx, open, cause.cause, refundId)) return;
  if (isFailed && (await isLost(ctx, open.commission))) return;
  const { byRefunds, reversed } = open.figures;
  reverse(ctx, open, refundDifference(open.commission.units, refunded, { byRefunds, byOthers: reversed - byRefunds }, isFailed), cause);
}

/** Remembers a refund; false where it brings nothing new: it is known, or known to have bounced. */
async function remember(ctx: Context, { id: eventId, occurred_at, data }: Refund, obligation: Obligation): Promise<boolean> {
  const failed = data.status === 'failed';
  const before = await ctx.em.findOne(ObligationRefund, { refundId: data.refund_id });
  if (before && (before.failed || !failed)) return false;
  const told = {
    amount: data.obligation_amount ?? 0,
    refunded: data.obligation_refunded ?? 0,
    failed,
    occurredAt: new Date(occurred_at),
    eventId,
  };
  if (before) Object.assign(before, told);
  else ctx.em.persist(Object.assign(new ObligationRefund(), { refundId: data.refund_id, ...obligation, ...told }));
  return true;
}

/** What has gone back as the latest refund tells it; a bounce is later than its refund, whatever came first. */
async function latest(ctx: Context, { obligationType, obligationId }: Obligation): Promise<Refunded> {
  await ctx.em.flush();
  const rows = await ctx.em.find(
    ObligationRefund,
    { obligationType, obligationId },
    { orderBy: { occurredAt: 'desc', eventId: 'desc' }, limit: 1 },
  );
  return rows[0]!;
}

/** A refund takes back its share of the commissions of its obligation; bounced, it gives it back. Source: affiliates 7.4 and 7.5. */
export async function applyRefunded(ctx: Context, event: Refund): Promise<void> {
  const { obligation_type: obligationType, obligation_id: obligationId, refund_id: refundId, status } = event.data;
  if (!obligationType || !obligationId) return; // nothing was settled
  const obligation = { obligationType, obligationId };
  await lockObligation(ctx, obligation);
  if (!(await remember(ctx, event, obligation))) return;
  const refunded = await latest(ctx, obligation);
  for (const commission of await commissionsOf(ctx, obligation)) {
    const open = await standingOf(ctx, await lockAffiliate(ctx, commission.affiliateId), commission);
    await applyRefund(ctx, open, refundId, refunded, status === 'failed');
  }
}

type Opened = DataOf<typeof paymentDisputeCreated>;
type Closed = DataOf<typeof paymentDisputeClosed>;

const obligationIn = ({ obligation_type: obligationType, obligation_id: obligationId }: Opened | Closed): Obligation | null =>
  obligationType && obligationId ? { obligationType, obligationId } : null;

/** Remembers a dispute; its end is final, and its beginning told again changes nothing. */
async function rememberDispute(ctx: Context, disputeId: string, obligation: Obligation, outcome: string | null): Promise<void> {
  await ctx.sql(
    `insert into affiliates.obligation_dispute (dispute_id, obligation_type, obligation_id, outcome) values ($1, $2, $3, $4)
     on conflict (dispute_id) do update set outcome = coalesce(obligation_dispute.outcome, excluded.outcome)`,
    [disputeId, obligation.obligationType, obligation.obligationId, outcome],
  );
}

/** While a dispute is open nothing of its obligation is posted. */
export async function openDispute(ctx: Context, data: Opened): Promise<void> {
  const obligation = obligationIn(data);
  if (!obligation) return;
  await lockObligation(ctx, obligation);
  await rememberDispute(ctx, data.dispute_id, obligation, null);
}

async function lose(ctx: Context, open: Open, disputeId: string): Promise<void> {
  if (!(await isApplied(ctx, open, DISPUTE, disputeId))) reverse(ctx, open, open.figures.net, { cause: DISPUTE, causeId: disputeId });
}

/** A lost dispute takes back all that is left; one that ended otherwise only ends the waiting. */
export async function closeDispute(ctx: Context, data: Closed): Promise<void> {
  const obligation = obligationIn(data);
  if (!obligation) return;
  await lockObligation(ctx, obligation);
  await rememberDispute(ctx, data.dispute_id, obligation, data.outcome);
  if (data.outcome !== 'lost') return;
  for (const commission of await commissionsOf(ctx, obligation))
    await lose(ctx, await standingOf(ctx, await lockAffiliate(ctx, commission.affiliateId), commission), data.dispute_id);
}

/** Applies what came before the payment, in the order in which it occurred. */
export async function applyWaiting(ctx: Context, affiliate: Affiliate, commission: Commission): Promise<void> {
  const { obligationType, obligationId } = commission;
  const refunds = await ctx.em.find(ObligationRefund, { obligationType, obligationId }, { orderBy: { occurredAt: 'asc', eventId: 'asc' } });
  for (const refund of refunds.filter(one => !one.failed))
    await applyRefund(ctx, await standingOf(ctx, affiliate, commission), refund.refundId, refund, false);
  const bounced = refunds.findLast(one => one.failed);
  if (bounced) await applyRefund(ctx, await standingOf(ctx, affiliate, commission), bounced.refundId, refunds.at(-1)!, true);
  const lost = await ctx.em.find(ObligationDispute, { obligationType, obligationId, outcome: 'lost' });
  for (const { disputeId } of lost) await lose(ctx, await standingOf(ctx, affiliate, commission), disputeId);
}
