import { CommissionKind, CommissionStatus, PriceSubjectKind } from '../entities/enums.js';
import type { AffiliateProgram, CommissionTier } from '../entities/program.js';
import { monthsAfter, ratioOf, shareOf } from './arithmetic.js';

/** Amounts of a settled obligation, minor units. */
export interface Settled {
  subtotal: number;
  discount: number;
  tax: number;
  shipping: number;
  cash: number;
}

type BaseTerms = Pick<AffiliateProgram, 'includeTax' | 'includeShipping' | 'includeCash'>;

/** Of what a commission is a part, never below 0. Source: affiliates 7.3. */
export function baseOf({ subtotal, discount, tax, shipping, cash }: Settled, terms: BaseTerms): number {
  const goods = subtotal - discount + (terms.includeTax ? tax : 0) + (terms.includeShipping ? shipping : 0);
  return Math.max(0, goods - (terms.includeCash ? 0 : cash));
}

/** What a tier earns of a base; a flat one once, with the first purchase. */
export function amountOf(tier: Pick<CommissionTier, 'kind' | 'rateBps' | 'flatUnits'>, base: number, isFirst: boolean): number {
  if (tier.kind === CommissionKind.PERCENT) return shareOf(base, tier.rateBps!);
  return isFirst && base > 0 ? tier.flatUnits! : 0;
}

const { MEMBERSHIP_PLAN, PRODUCT_VARIANT, PROTOCOL, SERVICE } = PriceSubjectKind;

/** What a payment of a purpose may be for; the event tells no more. */
const KINDS: Readonly<Record<string, readonly PriceSubjectKind[]>> = {
  order: [PRODUCT_VARIANT],
  subscription: [MEMBERSHIP_PLAN, PROTOCOL, SERVICE],
  invoice: [MEMBERSHIP_PLAN, PROTOCOL, SERVICE],
  gift: [MEMBERSHIP_PLAN],
  telehealth: [SERVICE],
};

export interface Purchase {
  purpose: string;
  isRenewal: boolean;
  customerSince: Date;
  at: Date;
}

/** Whether a purchase counts: its kind, and of a renewal its time. */
export function isEligible(
  { purpose, isRenewal, customerSince, at }: Purchase,
  program: Pick<AffiliateProgram, 'active' | 'subjectKinds' | 'renewalMonths'>,
): boolean {
  if (!program.active || (isRenewal && at >= monthsAfter(customerSince, program.renewalMonths))) return false;
  const { subjectKinds } = program;
  return subjectKinds.length === 0 || (KINDS[purpose] ?? []).some(kind => subjectKinds.includes(kind));
}

/** What the status of a commission follows from. */
export interface Standing {
  /** Somebody has to look at it first. */
  isHeld: boolean;
  isPosted: boolean;
  isPaid: boolean;
  /** Minor units that are left of it. */
  net: number;
}

export function statusOf({ isHeld, isPosted, isPaid, net }: Standing): CommissionStatus {
  if (net === 0) return CommissionStatus.REVERSED;
  if (isHeld) return CommissionStatus.HELD;
  if (!isPosted) return CommissionStatus.ACCRUED;
  return isPaid ? CommissionStatus.PAID : CommissionStatus.POSTED;
}

/** What an obligation has had back, minor units. */
export interface Refunded {
  amount: number;
  refunded: number;
}

/** What is reversed of a commission so far, minor units. */
export interface Reversed {
  byRefunds: number;
  byOthers: number;
}

/**
 * What a refund takes back of a commission, or where it bounced gives back (below 0): the commission's share of all that has gone back,
 * less what is reversed already. A bounced one never gives back what a dispute or staff took. Source: affiliates 7.4.
 */
export function refundDifference(
  amount: number,
  { amount: whole, refunded }: Refunded,
  { byRefunds, byOthers }: Reversed,
  isFailed: boolean,
): number {
  const target = whole <= 0 ? 0 : Math.min(amount, ratioOf(amount, Math.max(0, Math.min(refunded, whole)), whole));
  const so = byRefunds + byOthers;
  return isFailed ? Math.min(0, Math.max(target, byOthers) - so) : Math.max(0, target - so);
}
