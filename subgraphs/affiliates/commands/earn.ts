import type { Envelope } from '../../../events/consumer.js';
import type { Condition } from '../../../events/entrance.js';
import type { DataOf } from '../../../events/define.js';
import type { paymentPaid } from '../../../events/catalogue/payments.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { Affiliate } from '../entities/affiliate.js';
import { AffiliateAttribution } from '../entities/attribution.js';
import { AffiliateFraudSignal, Commission } from '../entities/commission.js';
import { AffiliateAttributionBasis, AffiliateFraudSignalKind, AffiliateStatus, ReferralStage } from '../entities/enums.js';
import { AffiliateProgram, CommissionTier } from '../entities/program.js';
import { sharesPaymentMethod } from '../ports/payments.js';
import { isLive } from '../rules/affiliates.js';
import { monthsAfter } from '../rules/arithmetic.js';
import { amountOf, baseOf, isEligible } from '../rules/commission.js';
import { newAttribution } from './attribution.js';
import { lockAffiliate, standingOf, tellAccrued } from './ledger.js';
import { applyWaiting, lockObligation } from './obligation.js';

export type Paid = Envelope<DataOf<typeof paymentPaid>>;

/** Who of the affiliates that may earn by a purchase is suspected of being its buyer. */
type Signals = ReadonlyMap<string, AffiliateFraudSignalKind | null>;

const { SAME_USER, SHARED_PAYMENT_METHOD } = AffiliateFraudSignalKind;

const byCode = (ctx: Context, code: string | null): Promise<Affiliate | null> =>
  code === null ? Promise.resolve(null) : ctx.em.findOne(Affiliate, { code: code.toUpperCase() });

const liveAttributions = (ctx: Context, customerId: string): Promise<AffiliateAttribution[]> =>
  ctx.em.find(AffiliateAttribution, { customerId, endedAt: null }, { orderBy: { programId: 'asc' } });

async function signalOf(ctx: Context, affiliate: Affiliate, buyer: string): Promise<AffiliateFraudSignalKind | null> {
  if (affiliate.userId === buyer) return SAME_USER;
  return (await sharesPaymentMethod(ctx, affiliate.userId, buyer)) ? SHARED_PAYMENT_METHOD : null;
}

/** Asked of payments before the transaction: whether a buyer and the affiliates of the purchase are the same person. Source: affiliates 7.2. */
export const suspicions = preparation(async (ctx, { user_id: buyer, data }: Paid): Promise<Signals> => {
  const bound = (await liveAttributions(ctx, buyer!)).map(({ affiliateId }) => affiliateId);
  const affiliates = await ctx.em.find(Affiliate, { id: { $in: bound } });
  const coded = await byCode(ctx, data.affiliate_code);
  const all = new Map([...affiliates, ...(coded ? [coded] : [])].map(one => [one.id, one]));
  const found = new Map<string, AffiliateFraudSignalKind | null>();
  for (const affiliate of all.values()) found.set(affiliate.id, await signalOf(ctx, affiliate, buyer!));
  return found;
});

/** No affiliate may earn by a purchase, as far as its preparation knows: then that is so while the buyer is bound to none. */
export function earnsNobody({ user_id: buyer, data }: Paid, facts: unknown): Condition | null {
  if (data.affiliate_code !== null || suspicions.of({ facts }).size > 0) return null;
  return {
    text: 'not exists (select from affiliates.attribution where customer_id = own.buyer and ended_at is null)',
    types: { buyer: 'uuid' },
    values: [buyer],
  };
}

/** The first purchase makes a customer, who stays bound for the program's months. */
async function becomeCustomer(ctx: Context, attribution: AffiliateAttribution, program: AffiliateProgram): Promise<void> {
  if (attribution.stage === ReferralStage.CUSTOMER) return;
  const now = ctx.now();
  Object.assign(attribution, { stage: ReferralStage.CUSTOMER, customerSince: now, boundUntil: monthsAfter(now, program.bindingMonths) });
  if (attribution.linkId !== null)
    await ctx.sql('update affiliates.affiliate_link set customers = customers + 1 where id = $1', [attribution.linkId]);
}

/** Live attributions of a buyer, without those whose time is over; and one by a code, in a program in which nobody else is bound. Source: affiliates 7.1. */
async function attributionsFor(ctx: Context, buyer: string, coded: Affiliate | null): Promise<AffiliateAttribution[]> {
  const live: AffiliateAttribution[] = [];
  for (const one of await liveAttributions(ctx, buyer)) {
    if (one.boundUntil === null || one.boundUntil > ctx.now()) live.push(one);
    else one.endedAt = ctx.now();
  }
  await ctx.em.flush(); // one live attribution for each program
  if (coded && isLive(coded.status) && !live.some(({ programId }) => programId === coded.programId)) {
    const click = { clickId: null, linkId: null, clickedAt: ctx.now() };
    live.push(newAttribution(ctx, coded, buyer, AffiliateAttributionBasis.CODE, click));
  }
  return live;
}

/** The tier of an affiliate as it stands; where it is gone, the lowest. */
export async function tierOf(ctx: Context, { programId, tierKey }: Affiliate): Promise<CommissionTier | null> {
  const tiers = await ctx.em.find(CommissionTier, { programId }, { orderBy: { rank: 'asc' } });
  return tiers.find(({ key }) => key === tierKey) ?? tiers[0] ?? null;
}

interface Earning {
  affiliate: Affiliate;
  program: AffiliateProgram;
  attribution: AffiliateAttribution;
}

/** What a purchase earns, as the row has it; null for nothing. */
async function draft(ctx: Context, { affiliate, program, attribution }: Earning, { data }: Paid): Promise<Commission | null> {
  const isRenewal = data.subscription_id !== null && !data.first_purchase;
  const purchase = { purpose: data.purpose, isRenewal, customerSince: attribution.customerSince!, at: ctx.now() };
  if (!isEligible(purchase, program)) return null;
  const { subtotal_amount: subtotal, discount_amount: discount, tax_amount: tax, shipping_amount: shipping, cash_amount: cash } = data;
  const baseUnits = baseOf({ subtotal, discount, tax, shipping, cash }, program);
  const tier = await tierOf(ctx, affiliate);
  if (!tier || (tier.flatUnits !== null && program.currency !== data.currency)) return null;
  const isFirst = (await ctx.em.count(Commission, { attributionId: attribution.id })) === 0;
  const units = amountOf(tier, baseUnits, isFirst);
  if (units === 0) return null;
  return Object.assign(new Commission(), {
    programId: program.id,
    affiliateId: affiliate.id,
    attributionId: attribution.id,
    baseUnits,
    units,
    currency: data.currency,
    kind: tier.kind,
    rateBps: tier.rateBps,
    tierKey: tier.key,
    obligationType: data.obligation_type,
    obligationId: data.obligation_id,
    orderId: data.order_id,
    subscriptionId: data.subscription_id,
    payableAt: after(ctx.now(), program.holdDays * DAY_MS),
    createdAt: ctx.now(),
  });
}

function signal(ctx: Context, affiliate: Affiliate, commission: Commission, kind: AffiliateFraudSignalKind): void {
  const about = { affiliateId: affiliate.id, commissionId: commission.id, kind, createdAt: ctx.now() };
  ctx.em.persist(Object.assign(new AffiliateFraudSignal(), { id: newId(), ...about }));
}

async function enter(
  ctx: Context,
  { affiliate }: Earning,
  commission: Commission,
  suspicion: AffiliateFraudSignalKind | null,
): Promise<void> {
  commission.heldReason = suspicion ?? (affiliate.status === AffiliateStatus.SUSPENDED ? 'suspended' : null);
  ctx.em.persist(commission);
  if (suspicion) signal(ctx, affiliate, commission, suspicion);
  affiliate.changedAt = ctx.now();
  ctx.audit('commission.earned', commission.id, {
    affiliate: affiliate.id,
    amount: commission.units,
    currency: commission.currency,
    held: commission.heldReason,
  });
  const open = await standingOf(ctx, affiliate, commission);
  if (!open.figures.isHeld) tellAccrued(ctx, open, commission.units, commission.id);
  await applyWaiting(ctx, affiliate, commission);
}

async function earnBy(ctx: Context, paid: Paid, attribution: AffiliateAttribution): Promise<void> {
  const signals = suspicions.of(ctx);
  const affiliate = await lockAffiliate(ctx, attribution.affiliateId);
  const suspicion = signals.get(affiliate.id);
  if (suspicion === undefined) throw new Error('an attribution was made meanwhile; the event is handled again');
  const program = await ctx.em.findOneOrFail(AffiliateProgram, { id: attribution.programId });
  await becomeCustomer(ctx, attribution, program);
  const { obligation_type: obligationType, obligation_id: obligationId } = paid.data;
  const isKnown = await ctx.em.count(Commission, { programId: program.id, obligationType, obligationId });
  if (isKnown || !isLive(affiliate.status)) return;
  const earning = { affiliate, program, attribution };
  const commission = await draft(ctx, earning, paid);
  if (commission) await enter(ctx, earning, commission, suspicion);
}

/** A settled obligation earns its affiliates a commission, one for each program. Source: affiliates 3, 7.1 to 7.5. */
export async function earn(ctx: Context, paid: Paid): Promise<void> {
  const { obligation_type: obligationType, obligation_id: obligationId, affiliate_code: code } = paid.data;
  await lockObligation(ctx, { obligationType, obligationId });
  const coded = await byCode(ctx, code);
  for (const attribution of await attributionsFor(ctx, paid.user_id!, coded)) await earnBy(ctx, paid, attribution);
}
