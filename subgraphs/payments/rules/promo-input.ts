import type { Violation } from '../../../runtime/request/errors.js';
import { PromoDuration, PromoKind, PromoStatus } from '../entities/enums-offers.js';

interface Amount {
  amount: number;
  currency: string;
}

/** What is asked for, as far as its parts depend on each other. */
export interface PromoDraft {
  kind: PromoKind;
  percentBps?: number | null;
  amountOff?: Amount | null;
  trialDays?: number | null;
  duration: PromoDuration;
  durationPeriods?: number | null;
  startsAt?: Date | null;
  endsAt?: Date | null;
  minSubtotal?: Amount | null;
}

type Check = (draft: PromoDraft) => boolean;

/** The field that says how much, by kind. */
const VALUE = { percent: 'percentBps', amount: 'amountOff', trial_days: 'trialDays' } as const satisfies Record<
  PromoKind,
  keyof PromoDraft
>;

const valueViolations = (draft: PromoDraft): Violation[] =>
  Object.entries(VALUE).flatMap(([kind, field]) => {
    const isOwn = kind === draft.kind;
    if ((draft[field] != null) === isOwn) return [];
    return [{ pointer: `/input/${field}`, message: isOwn ? `is required for ${kind}` : `is not for ${draft.kind}` }];
  });

const RULES: readonly (readonly [pointer: string, message: string, isWrong: Check])[] = [
  ['/input/amountOff/amount', 'must be above 0', ({ amountOff }) => amountOff != null && amountOff.amount <= 0],
  ['/input/minSubtotal/amount', 'must be above 0', ({ minSubtotal }) => minSubtotal != null && minSubtotal.amount <= 0],
  [
    '/input/minSubtotal/currency',
    'must be that of amountOff',
    ({ amountOff, minSubtotal }) => amountOff != null && minSubtotal != null && amountOff.currency !== minSubtotal.currency,
  ],
  [
    '/input/durationPeriods',
    'is required for repeating, and for nothing else',
    ({ duration, durationPeriods }) => (duration === PromoDuration.REPEATING) !== (durationPeriods != null),
  ],
  [
    '/input/duration',
    'must be once for trial_days',
    ({ kind, duration }) => kind === PromoKind.TRIAL_DAYS && duration !== PromoDuration.ONCE,
  ],
  ['/input/endsAt', 'must be after the start', ({ startsAt, endsAt }) => startsAt != null && endsAt != null && endsAt <= startsAt],
];

/** Everything that does not go together. */
export const promoViolations = (draft: PromoDraft): Violation[] => [
  ...valueViolations(draft),
  ...RULES.filter(([, , isWrong]) => isWrong(draft)).map(([pointer, message]) => ({ pointer, message })),
];

interface PromoChange {
  status?: PromoStatus | null;
  maxRedemptions?: number | null;
}

/** What a change may not do. @param used reservations and redemptions until now, without those beyond the limit. */
export function changeViolations({ status, maxRedemptions }: PromoChange, used: number): Violation[] {
  const found: Violation[] = [];
  if (status != null && status !== PromoStatus.DISABLED) found.push({ pointer: '/input/status', message: 'can only become disabled' });
  if (maxRedemptions != null && maxRedemptions < used)
    found.push({ pointer: '/input/maxRedemptions', message: `must be at least ${used}, which are used` });
  return found;
}
