import type { Violation } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { GiftKind } from '../entities/enums-offers.js';

/** Credit that may be given, minor units. Source: payments 4.3. */
const VALUE = { min: 500, max: 100_000 } as const;
const LATEST_MS = 365 * DAY_MS;

export interface GiftDraft {
  kind: GiftKind;
  priceId?: string | null;
  periods?: number | null;
  value?: { amount: number } | null;
  deliverAt?: Date | null;
}

const required = (pointer: string, isThere: boolean): Violation[] => (isThere ? [] : [{ pointer, message: 'is required for this kind' }]);
const foreign = (pointer: string, isThere: boolean): Violation[] => (isThere ? [{ pointer, message: 'is not for this kind' }] : []);

function valueViolations({ kind, priceId, periods, value }: GiftDraft): Violation[] {
  if (kind === GiftKind.MEMBERSHIP)
    return [
      ...required('/input/priceId', priceId != null),
      ...required('/input/periods', periods != null),
      ...foreign('/input/value', value != null),
    ];
  const wrong = value != null && (value.amount < VALUE.min || value.amount > VALUE.max);
  return [
    ...foreign('/input/priceId', priceId != null),
    ...foreign('/input/periods', periods != null),
    ...required('/input/value', value != null),
    ...(wrong ? [{ pointer: '/input/value/amount', message: `must be from ${VALUE.min} to ${VALUE.max}` }] : []),
  ];
}

function deliveryViolations(deliverAt: Date | null | undefined, now: Date): Violation[] {
  if (deliverAt == null) return [];
  if (deliverAt < now) return [{ pointer: '/input/deliverAt', message: 'must not be in the past' }];
  return deliverAt > after(now, LATEST_MS) ? [{ pointer: '/input/deliverAt', message: 'must be at most a year ahead' }] : [];
}

/** Everything that does not go together. */
export const giftViolations = (draft: GiftDraft, now: Date): Violation[] => [
  ...valueViolations(draft),
  ...deliveryViolations(draft.deliverAt, now),
];
