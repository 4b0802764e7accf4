import { CashGrantStatus } from '../entities/enums.js';
import type { CashGrant } from '../entities/grant.js';
import { PriceSubjectKind } from '../entities/enums.js';

/** What rules read of a grant; amounts in minor units. */
export type Lot = Pick<
  CashGrant,
  'id' | 'state' | 'left' | 'activatesAt' | 'expiresAt' | 'createdAt' | 'minSubtotal' | 'subjectKinds' | 'maxShareBps'
>;

/** What cash is to settle a part of. */
export interface Purchase {
  /** Minor units of the balance's currency. */
  subtotal: number;
  subjectKinds: readonly PriceSubjectKind[];
}

/** What is taken of one lot, minor units. */
export interface Take<L> {
  lot: L;
  amount: number;
}

const WHOLE_BPS = 10_000;

/** `amount × bps / 10000`, half to even; the product has more than 53 bits. Source: conventions 8. */
export function shareOf(amount: number, bps: number): number {
  const [whole, product] = [BigInt(WHOLE_BPS), BigInt(amount) * BigInt(bps)];
  const [quotient, twice] = [product / whole, (product % whole) * 2n];
  const isUp = twice > whole || (twice === whole && quotient % 2n === 1n);
  return Number(isUp ? quotient + 1n : quotient);
}

const { ACTIVE, SCHEDULED, EXPIRED } = CashGrantStatus;

/** State of a grant at an instant, whether or not the sweep has come by: usable while `activatesAt <= at < expiresAt`. Source: cash 7.9. */
export function stateAt({ state, activatesAt, expiresAt }: Pick<Lot, 'state' | 'activatesAt' | 'expiresAt'>, at: Date): CashGrantStatus {
  if (state !== ACTIVE && state !== SCHEDULED) return state;
  if (at < activatesAt) return SCHEDULED;
  return expiresAt !== null && at >= expiresAt ? EXPIRED : ACTIVE;
}

export const isUsable = (lot: Lot, at: Date): boolean => stateAt(lot, at) === ACTIVE;

/** Whether a lot may not be used for just anything. */
export const isRestricted = ({ minSubtotal, subjectKinds, maxShareBps }: Lot): boolean =>
  minSubtotal !== null || subjectKinds.length > 0 || maxShareBps < WHOLE_BPS;

/** The most that a lot may cover of a purchase; of an unnamed one a restricted lot covers nothing. Source: cash 2, CashRestrictions. */
export function coverOf(lot: Lot, purchase: Purchase | null): number {
  if (!isRestricted(lot)) return purchase?.subtotal ?? Number.MAX_SAFE_INTEGER;
  if (purchase === null || purchase.subtotal < (lot.minSubtotal ?? 0)) return 0;
  const { subjectKinds, maxShareBps } = lot;
  const isFit =
    subjectKinds.length === 0 || (purchase.subjectKinds.length > 0 && purchase.subjectKinds.every(one => subjectKinds.includes(one)));
  return isFit ? shareOf(purchase.subtotal, maxShareBps) : 0;
}

const endOf = ({ expiresAt }: Pick<Lot, 'expiresAt'>): number => expiresAt?.getTime() ?? Infinity;
const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Soonest expiry first, none last; of one expiry the restricted first; then the older, then the lower id. Source: cash 7.1. */
export const inSpendOrder = (a: Lot, b: Lot): number =>
  compare(endOf(a), endOf(b)) ||
  Number(isRestricted(b)) - Number(isRestricted(a)) ||
  compare(a.createdAt.getTime(), b.createdAt.getTime()) ||
  compare(a.id, b.id);

/** What is taken of which lots for at most `wanted`, in the order of spending. All together never cover more than the purchase. */
export function allot<L extends Lot>(lots: readonly L[], wanted: number, purchase: Purchase | null, at: Date): Take<L>[] {
  const takes: Take<L>[] = [];
  let open = Math.min(wanted, purchase?.subtotal ?? wanted);
  for (const lot of lots.filter(one => isUsable(one, at)).toSorted(inSpendOrder)) {
    const amount = Math.min(lot.left, open, coverOf(lot, purchase));
    if (amount > 0) takes.push({ lot, amount });
    open -= amount > 0 ? amount : 0;
  }
  return takes;
}

export const sumOf = <T>(rows: readonly T[], amountOf: (row: T) => number): number => rows.reduce((sum, row) => sum + amountOf(row), 0);
