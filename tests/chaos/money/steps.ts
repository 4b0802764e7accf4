import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** What a client may do next, with its share of all steps. */
const WEIGHTS = {
  charge: 18,
  chargeWithCash: 6,
  authorize: 6,
  capture: 6,
  cancelAuthorization: 2,
  refund: 14,
  refundToCash: 3,
  openDispute: 3,
  closeDispute: 3,
  refundOutside: 2,
  grantCash: 8,
  revokeCash: 2,
  subscribe: 5,
  changePrice: 5,
  pause: 3,
  resume: 3,
  cancelSubscription: 1,
  earn: 4,
  payOut: 4,
  reverse: 2,
  repeatHooks: 2,
} as const;

/** Steps between two barriers, at which nothing is on its way and the clocks go on by three days. */
export const BETWEEN = 200;
export const BARRIER_DAYS = 3;

export type Kind = keyof typeof WEIGHTS;

/** One operation, before anything is known of what it meets: the same seed gives the same ones. */
export interface Step {
  readonly number: number;
  readonly kind: Kind;
  /** Index of the user. */
  readonly user: number;
  /** Which of the things that there are, 0 to 999,999 of a million. */
  readonly pick: number;
  /** Minor units. */
  readonly amount: number;
  /** Part of what may be taken, in thousandths; above 1000 it is more than there is. */
  readonly part: number;
  readonly method: string;
  /** A UUID: reference or key of what the step makes. */
  readonly id: string;
}

/** Methods that succeed, decline, need the customer, come later or never answer. */
const METHODS = [
  ...Array<string>(12).fill('pm_card_visa'),
  'pm_card_mastercard',
  'pm_card_visa_chargeDeclined',
  'pm_card_visa_chargeDeclinedLostCard',
  'sbx_async_success',
  'sbx_async_fail',
  'pm_card_refundFail',
] as const;

const KINDS = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));

/** So many operations for so many users. */
export function stepsOf(seed: number, count: number, users: number): Step[] {
  const generator = xoroshiro128plus(seed);
  const below = (limit: number): number => uniformInt(generator, 0, limit - 1);
  const hex = (digits: number): string => Array.from({ length: digits }, () => below(16).toString(16)).join('');
  return Array.from({ length: count }, (_, number) => ({
    number,
    kind: KINDS[below(KINDS.length)]!,
    user: below(users),
    pick: below(1_000_000),
    amount: 100 + below(20_000),
    part: 1 + below(1_150),
    method: METHODS[below(METHODS.length)]!,
    id: `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  }));
}
