import { EntitlementOverrideState } from '../entities/enums.js';
import type { EntitlementOverride } from '../entities/override.js';

type Times = Pick<EntitlementOverride, 'startsAt' | 'endsAt'>;

/** SCHEDULED -> ACTIVE at `startsAt` -> ENDED at `endsAt`; one that never begins ends where it would begin. Source: entitlements 3. */
export function stateOf({ startsAt, endsAt }: Times, at: Date): EntitlementOverrideState {
  if (endsAt !== null && at >= endsAt) return EntitlementOverrideState.ENDED;
  return at < startsAt ? EntitlementOverrideState.SCHEDULED : EntitlementOverrideState.ACTIVE;
}

/** The end of an override that is ended now: one that has not begun never begins. */
export const endOf = ({ startsAt }: Times, now: Date): Date => (startsAt > now ? startsAt : now);

/** Newest first; of one instant a denial first, then the higher id, so that the order is total. */
export const newestFirst = (
  a: Pick<EntitlementOverride, 'id' | 'allow' | 'createdAt'>,
  b: Pick<EntitlementOverride, 'id' | 'allow' | 'createdAt'>,
): number => b.createdAt.getTime() - a.createdAt.getTime() || Number(a.allow) - Number(b.allow) || (a.id < b.id ? 1 : -1);
