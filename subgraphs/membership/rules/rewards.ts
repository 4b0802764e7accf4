import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { BonusTrigger, MembershipStatus, MilestoneTrigger, WinBackStatus } from '../entities/enums.js';
import type { BonusRule, MilestoneRule, WinBack } from '../entities/rewards.js';
import { tenureReachedAt, type Timeline } from './timeline.js';

/** What happened to a membership just now. */
export type Occasion = Exclude<`${BonusTrigger}`, 'tenure_days'>;

/** Whoever is back within this time has had the bonus of a first activation. Source: membership 7.6. */
const RENEWS_AFTER_DAYS = 90;

/** A return after a long time is a first activation to the rules, too. */
export const occasionsOfReturn = (daysAway: number): Occasion[] =>
  daysAway > RENEWS_AFTER_DAYS ? ['reactivated', 'activated'] : ['reactivated'];

type Rule = Pick<BonusRule, 'key' | 'trigger' | 'threshold' | 'tierKeys' | 'createdAt'>;

/** A tenure counts from when the rule was made, so that a new one does not pay for the past. */
function isReached({ trigger, threshold, createdAt }: Rule, { segments }: Timeline, occasions: readonly Occasion[], now: Date): boolean {
  if (trigger !== BonusTrigger.TENURE_DAYS) return occasions.includes(trigger);
  const at = tenureReachedAt(segments, threshold!);
  return at !== null && at <= now && at >= createdAt;
}

/** Once for each tier that was reached, for each number of days, else for each membership. */
const periodKeyOf = ({ trigger, threshold }: Rule, tierKey: string): string => {
  if (trigger === BonusTrigger.TENURE_DAYS) return `tenure_${threshold}`;
  return trigger === BonusTrigger.TIER_CHANGED ? `tier_${tierKey}`.slice(0, 64) : trigger;
};

/** The rules that a member on a tier meets, each with its period. */
export const metBy = <R extends Rule>(
  rules: readonly R[],
  timeline: Timeline,
  tierKey: string,
  occasions: readonly Occasion[],
  now: Date,
): { rule: R; periodKey: string }[] =>
  rules
    .filter(rule => (rule.tierKeys.length === 0 || rule.tierKeys.includes(tierKey)) && isReached(rule, timeline, occasions, now))
    .map(rule => ({ rule, periodKey: periodKeyOf(rule, tierKey) }));

/** Whether a milestone of a member, that is not one of orders, is reached. */
export function isMilestone({ trigger, threshold }: Pick<MilestoneRule, 'trigger' | 'threshold'>, timeline: Timeline, now: Date): boolean {
  if (trigger === MilestoneTrigger.REACTIVATED) return timeline.memberships.length - 1 >= threshold;
  const at = trigger === MilestoneTrigger.TENURE_DAYS ? tenureReachedAt(timeline.segments, threshold) : null;
  return at !== null && at <= now;
}

/** The next instant at which a number of days is reached; null: none, or only after a return. */
export function nextTenure({ segments }: Timeline, days: readonly number[], now: Date): Date | null {
  if (segments.at(-1)?.status !== MembershipStatus.ACTIVE) return null;
  const coming = days.map(one => tenureReachedAt(segments, one)).filter(at => at !== null && at > now);
  return coming.sort((a, b) => a!.getTime() - b!.getTime())[0] ?? null;
}

/** A campaign begins a day after the end, and lasts 60. Source: membership 3. */
const WIN_BACK_AFTER_MS = DAY_MS;
const WIN_BACK_MS = 60 * DAY_MS;

/** When the campaign for somebody who has left begins and ends; null: there is none. */
export function winBackOf({ memberships, optedOut, erased }: Timeline): { startsAt: Date; endsAt: Date } | null {
  const last = memberships.at(-1);
  if (!last?.lapsedAt || !last.mayBeWonBack || optedOut || erased) return null;
  const startsAt = after(last.lapsedAt, WIN_BACK_AFTER_MS);
  return { startsAt, endsAt: after(startsAt, WIN_BACK_MS) };
}

/** What becomes of a campaign; `returnedAt` null: its member is still away. */
export function winBackStatus(
  one: Pick<WinBack, 'status' | 'endsAt'>,
  timeline: Timeline,
  returnedAt: Date | null,
  now: Date,
): WinBackStatus {
  if (one.status !== WinBackStatus.OPEN) return one.status;
  if (returnedAt && returnedAt < one.endsAt) return WinBackStatus.CONVERTED;
  if (timeline.optedOut || timeline.erased) return WinBackStatus.OPTED_OUT;
  return now >= one.endsAt ? WinBackStatus.EXPIRED : WinBackStatus.OPEN;
}
