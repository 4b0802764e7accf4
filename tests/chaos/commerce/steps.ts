import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** What a shopper, or who keeps the shop beside them, may do next, with its share of all steps. */
const WEIGHTS = {
  add: 24,
  fill: 10,
  set: 10,
  clear: 2,
  checkout: 18,
  checkoutLater: 6,
  pay: 4,
  payUnheard: 3,
  cancel: 6,
  ship: 7,
  takeBack: 6,
  receive: 6,
  adjust: 3,
  recall: 2,
  quarantine: 3,
  reprice: 2,
} as const;

export type Kind = keyof typeof WEIGHTS;

/** One operation, before anything is known of what it meets: the same seed gives the same ones. */
export interface Step {
  readonly kind: Kind;
  /** Index of the shopper. */
  readonly shopper: number;
  /** Which of the things that there are, 0 to 999,999 of a million. */
  readonly pick: number;
  /** Which other ones. */
  readonly other: number;
  readonly quantity: number;
  /** Either of two ways. */
  readonly isOdd: boolean;
  /** A UUID: key of what the step asks. */
  readonly id: string;
}

const KINDS = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));

/** So many operations of each shopper; what one does depends on the seed and the own number alone. */
export function stepsOf(seed: number, shoppers: number, each: number): Step[][] {
  return Array.from({ length: shoppers }, (_, shopper) => {
    const generator = xoroshiro128plus(seed * 1_000 + shopper);
    const below = (limit: number): number => uniformInt(generator, 0, limit - 1);
    const hex = (digits: number): string => Array.from({ length: digits }, () => below(16).toString(16)).join('');
    return Array.from({ length: each }, () => ({
      kind: KINDS[below(KINDS.length)]!,
      shopper,
      pick: below(1_000_000),
      other: below(1_000_000),
      quantity: 1 + below(3),
      isOdd: below(2) === 1,
      id: `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    }));
  });
}
