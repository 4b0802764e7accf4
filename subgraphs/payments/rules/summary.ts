import { roundHalfEven } from './rounding.js';

/** What is known of a member's payments. Minor units. */
export interface MemberFigures {
  charged: number;
  refunded: number;
  openDisputes: number;
  lostDisputes: number;
  failedLast90d: number;
  isDelinquent: boolean;
  hasLiveSubscription: boolean;
  hasMethod: boolean;
}

/** Refunded of charged, of 10000; nothing charged: 0. */
export const refundRateBps = ({ charged, refunded }: Pick<MemberFigures, 'charged' | 'refunded'>): number =>
  charged === 0 ? 0 : roundHalfEven(BigInt(refunded) * 10_000n, BigInt(charged));

/** From here on a figure stands out. */
const FREQUENT_FAILURES = 3;
const HIGH_REFUND_RATE_BPS = 2500;

const FLAGS: readonly (readonly [flag: string, isSet: (figures: MemberFigures) => boolean])[] = [
  ['past_due', ({ isDelinquent }) => isDelinquent],
  ['open_dispute', ({ openDisputes }) => openDisputes > 0],
  ['lost_dispute', ({ lostDisputes }) => lostDisputes > 0],
  ['frequent_failures', ({ failedLast90d }) => failedLast90d >= FREQUENT_FAILURES],
  ['high_refund_rate', figures => refundRateBps(figures) >= HIGH_REFUND_RATE_BPS],
  ['no_payment_method', ({ hasLiveSubscription, hasMethod }) => hasLiveSubscription && !hasMethod],
];

/** What stands out about a member, for whoever looks after them. Source: payments 2, MemberBillingSummary. */
export const memberFlags = (figures: MemberFigures): string[] => FLAGS.filter(([, isSet]) => isSet(figures)).map(([flag]) => flag);
