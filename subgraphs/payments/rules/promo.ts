import type { TransitionTable } from '../../../runtime/request/states.js';
import { PromoHoldStatus, PromoKind, PromoRefusal, PromoStatus } from '../entities/enums-offers.js';
import type { Promo } from '../entities/promo.js';
import { allocate } from './allocation.js';
import { roundHalfEven } from './rounding.js';

export type PromoTrigger = 'start' | 'exhaust' | 'release' | 'expire' | 'disable';

/** Source: payments 3.7. `release`: a reservation under the limit was given back, or the limit was raised. */
export const PROMO_STATES: TransitionTable<PromoStatus, PromoTrigger> = {
  scheduled: { start: PromoStatus.ACTIVE, disable: PromoStatus.DISABLED },
  active: { exhaust: PromoStatus.EXHAUSTED, expire: PromoStatus.EXPIRED, disable: PromoStatus.DISABLED },
  exhausted: { release: PromoStatus.ACTIVE, expire: PromoStatus.EXPIRED, disable: PromoStatus.DISABLED },
  expired: { disable: PromoStatus.DISABLED },
  disabled: {},
};

export type RedemptionTrigger = 'redeem' | 'release' | 'refund';

/** Source: payments 3.7. A released hold of an order that is redeemed all the same is counted, never refused (4.2). */
export const REDEMPTION_STATES: TransitionTable<PromoHoldStatus, RedemptionTrigger> = {
  reserved: { redeem: PromoHoldStatus.REDEEMED, release: PromoHoldStatus.RELEASED },
  redeemed: { refund: PromoHoldStatus.RELEASED },
  released: { redeem: PromoHoldStatus.REDEEMED },
};

/** What a promo promises, and to whom. */
export type PromoTerms = Pick<
  Promo,
  | 'brandId'
  | 'kind'
  | 'percentBps'
  | 'amountOffMinor'
  | 'currency'
  | 'status'
  | 'startsAt'
  | 'endsAt'
  | 'minSubtotalMinor'
  | 'firstPurchaseOnly'
  | 'maxRedemptions'
  | 'perUserLimit'
  | 'redeemedCount'
  | 'reservedCount'
  | 'priceIds'
  | 'subjectKinds'
>;

/** A line of what is bought. */
export interface PromoLine {
  /** Null in an order of commerce, whose lines have no price of ours. */
  priceId: string | null;
  subjectKind: string;
  subjectId: string;
  /** Whole line, minor units. */
  subtotal: number;
  recurring: boolean;
}

/** What the code is asked for. */
export interface PromoQuestion {
  brandId: string;
  currency: string;
  lines: readonly PromoLine[];
  /** Reservations and redemptions that the user has of this promo. */
  usedByUser: number;
  hasPurchased: boolean;
  at: Date;
}

type Limits = Pick<PromoTerms, 'maxRedemptions' | 'redeemedCount' | 'reservedCount'>;
const isExhausted = ({ maxRedemptions, redeemedCount, reservedCount }: Limits): boolean =>
  maxRedemptions !== null && redeemedCount + reservedCount >= maxRedemptions;

/** The state at an instant: times, limit and counts decide, so that a promo ends on time also where its timer is late. */
export function promoStatusAt(promo: Limits & Pick<PromoTerms, 'status' | 'startsAt' | 'endsAt'>, at: Date): PromoStatus {
  if (promo.status === PromoStatus.DISABLED) return PromoStatus.DISABLED;
  if (promo.endsAt && promo.endsAt <= at) return PromoStatus.EXPIRED;
  if (promo.startsAt && promo.startsAt > at) return PromoStatus.SCHEDULED;
  return isExhausted(promo) ? PromoStatus.EXHAUSTED : PromoStatus.ACTIVE;
}

/** Whether a promo is for a line: both lists empty is everything, else one of them must name it. A trial needs something that recurs. */
function isFor({ kind, priceIds, subjectKinds }: PromoTerms, line: PromoLine): boolean {
  if (kind === PromoKind.TRIAL_DAYS && !line.recurring) return false;
  if (priceIds.length === 0 && subjectKinds.length === 0) return true;
  return (line.priceId !== null && priceIds.includes(line.priceId)) || subjectKinds.includes(line.subjectKind);
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
const subtotalOf = (lines: readonly PromoLine[]): number => sum(lines.map(line => line.subtotal));

/** Amounts of a promo are in one currency; in another one it says nothing. */
const fitsCurrency = (promo: PromoTerms, currency: string): boolean => promo.currency === null || promo.currency === currency;

const BY_STATUS: Readonly<Partial<Record<PromoStatus, PromoRefusal>>> = {
  disabled: PromoRefusal.UNKNOWN,
  scheduled: PromoRefusal.UNKNOWN,
  expired: PromoRefusal.EXPIRED,
  exhausted: PromoRefusal.EXHAUSTED,
};

/** What is against a promo whatever is bought; a code that nobody may know of yet is `unknown`. */
const refusedByState = (promo: PromoTerms, { brandId, at }: PromoQuestion): PromoRefusal | null =>
  promo.brandId === brandId ? (BY_STATUS[promoStatusAt(promo, at)] ?? null) : PromoRefusal.UNKNOWN;

function refusedByLines(promo: PromoTerms, { lines, currency }: PromoQuestion): PromoRefusal | null {
  if (!fitsCurrency(promo, currency) || !lines.some(line => isFor(promo, line))) return PromoRefusal.NOT_APPLICABLE;
  return promo.minSubtotalMinor !== null && subtotalOf(lines) < promo.minSubtotalMinor ? PromoRefusal.MIN_SUBTOTAL : null;
}

function refusedByUser(promo: PromoTerms, { usedByUser, hasPurchased }: PromoQuestion): PromoRefusal | null {
  if (usedByUser >= promo.perUserLimit) return PromoRefusal.ALREADY_USED;
  return promo.firstPurchaseOnly && hasPurchased ? PromoRefusal.NOT_FIRST_PURCHASE : null;
}

/** Why a code is refused, null when it is good. Source: payments 2, PromoRefusal. */
export const refusalOf = (promo: PromoTerms | null, asked: PromoQuestion): PromoRefusal | null =>
  promo === null ? PromoRefusal.UNKNOWN : (refusedByState(promo, asked) ?? refusedByLines(promo, asked) ?? refusedByUser(promo, asked));

/** What a good code takes off. Minor units. */
export interface Discount {
  amount: number;
  /** One for each line that it takes something off; their sum is the amount. */
  allocations: { line: number; subjectId: string; amount: number }[];
}

/** Of the lines that it is for, rounded half to even once, and never above them. */
function amountOf({ kind, percentBps, amountOffMinor }: PromoTerms, subtotal: number): number {
  if (kind === PromoKind.PERCENT) return roundHalfEven(BigInt(subtotal) * BigInt(percentBps!), 10_000n);
  return kind === PromoKind.AMOUNT ? Math.min(amountOffMinor!, subtotal) : 0;
}

/** The discount of a promo that is not refused, spread over the lines that it is for. */
export function discountOf(promo: PromoTerms, lines: readonly PromoLine[]): Discount {
  const weights = lines.map(line => (isFor(promo, line) ? line.subtotal : 0));
  const amount = amountOf(promo, sum(weights));
  const parts = allocate(amount, weights);
  const allocations = parts.map((part, line) => ({ line, subjectId: lines[line]!.subjectId, amount: part })).filter(one => one.amount > 0);
  return { amount, allocations };
}

const CODE = /^[A-Z0-9_-]{3,32}$/;

/** A code as it is stored; null for what no code can be. */
export function normalizedCode(typed: string): string | null {
  const code = typed.trim().toUpperCase();
  return CODE.test(code) ? code : null;
}
