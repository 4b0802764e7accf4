import { DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import { AffiliateAttributionModel } from '../entities/enums.js';

/** A claim is taken so long after the sign-up. Source: affiliates 3. */
export const CLAIM_MS = 24 * HOUR_MS;

interface Claim {
  clickedAt: Date;
  claimedAt: Date;
}

/** Whether a claim was made in time, by a click that is not too old when its user signed up. */
export const isInTime = ({ clickedAt, claimedAt }: Claim, signedUpAt: Date, windowDays: number): boolean =>
  claimedAt.getTime() <= signedUpAt.getTime() + CLAIM_MS && clickedAt.getTime() >= signedUpAt.getTime() - windowDays * DAY_MS;

/** Whether a click wins against one that is attributed already. */
export function wins(model: AffiliateAttributionModel, clickedAt: Date, before: Date): boolean {
  return model === AffiliateAttributionModel.LAST_CLICK ? clickedAt >= before : clickedAt < before;
}
