import {
  membershipActivated,
  membershipLapsed,
  membershipReactivated,
  membershipSuspended,
  membershipTierChanged,
} from '../../../events/catalogue/membership.js';
import type { Context } from '../../../runtime/request/context.js';
import { MembershipStatus, SuspensionReason, TierDirection } from '../entities/enums.js';
import type { Membership } from '../entities/membership.js';
import type { Catalogue } from '../rules/catalogue.js';
import { occasionsOfReturn, type Occasion } from '../rules/rewards.js';
import { daysBetween, tenureDaysOf, type Timeline } from '../rules/timeline.js';

const { ACTIVE, SUSPENDED, LAPSED } = MembershipStatus;

/** What others knew of a membership; null: nothing. */
export type Known = Pick<Membership, 'status' | 'suspendedAt' | 'lapsedAt'> | null;

export interface Announced {
  row: Membership;
  known: Known;
  index: number;
  timeline: Timeline;
  catalogue: Catalogue;
  /** The user has never been a member of the brand before. */
  isFirst: boolean;
}

/** What every event of a membership carries. Source: membership 5. */
export const commonOf = ({ id, planId, tierId, brandId, subscriptionId }: Membership, catalogue: Catalogue) => ({
  membership_id: id,
  plan_id: planId,
  plan_key: catalogue.plan(planId).key,
  tier_key: catalogue.tier(tierId).key,
  brand_id: brandId,
  subscription_id: subscriptionId,
});

const aboutOf = ({ userId, brandId }: Membership) => ({ userId, brandId });
const isoOf = (at: Date | null): string | null => at?.toISOString() ?? null;

function begun(ctx: Context, { row, index, timeline, catalogue, isFirst }: Announced): Occasion[] {
  const common = commonOf(row, catalogue);
  if (isFirst) {
    const dates = { started_at: row.startedAt.toISOString(), current_period_end: isoOf(row.currentPeriodEnd) };
    ctx.emit(membershipActivated, { ...common, source: row.source, ...dates }, aboutOf(row));
    return ['activated'];
  }
  const leftAt = timeline.memberships[index - 1]?.lapsedAt ?? row.startedAt;
  const daysAway = daysBetween(leftAt, row.startedAt);
  ctx.emit(membershipReactivated, { ...common, from: 'lapsed', days_away: daysAway }, aboutOf(row));
  return occasionsOfReturn(daysAway);
}

/** A fact that came late can bring back one that was over. */
function returned(ctx: Context, { row, known, catalogue }: Announced): Occasion[] {
  const from = known!.status === LAPSED ? 'lapsed' : 'suspended';
  const since = (from === 'lapsed' ? known!.lapsedAt : known!.suspendedAt) ?? row.startedAt;
  const daysAway = daysBetween(since, row.activeSince ?? ctx.now());
  ctx.emit(membershipReactivated, { ...commonOf(row, catalogue), from, days_away: daysAway }, aboutOf(row));
  return from === 'lapsed' ? occasionsOfReturn(daysAway) : [];
}

function suspended(ctx: Context, { row, catalogue }: Announced): void {
  const reason = row.suspensionReasons[0]!;
  const details = { reason, suspended_at: row.suspendedAt!.toISOString(), grace_used: reason === SuspensionReason.PAYMENT_PAST_DUE };
  ctx.emit(membershipSuspended, { ...commonOf(row, catalogue), ...details }, aboutOf(row));
}

function lapsed(ctx: Context, { row, catalogue }: Announced): void {
  const { lapseReason: reason, involuntary, lapsedAt, tenureMs } = row;
  const details = {
    reason: reason!,
    involuntary,
    lapsed_at: lapsedAt!.toISOString(),
    tenure_days: tenureDaysOf(tenureMs, null, lapsedAt!),
  };
  ctx.emit(membershipLapsed, { ...commonOf(row, catalogue), ...details }, aboutOf(row));
}

function tierChanged(ctx: Context, { row, index, timeline, catalogue }: Announced): Occasion[] {
  const [from, to] = [catalogue.tier(row.announcedTierId), catalogue.tier(row.tierId)];
  const last = timeline.changes.findLast(change => change.membership === index);
  const byRank = to.rank > from.rank ? TierDirection.UP : TierDirection.DOWN;
  const direction = to.rank === from.rank ? (last?.direction ?? byRank) : byRank;
  const effective_at = (last?.at ?? ctx.now()).toISOString();
  row.announcedTierId = row.tierId;
  const change = { from_tier: from.key, to_tier: to.key, direction, effective_at };
  ctx.emit(membershipTierChanged, { ...commonOf(row, catalogue), ...change }, aboutOf(row));
  return ['tier_changed'];
}

/** One that began and ended before it was heard of, while another has followed, is history: nobody is told. */
const isHistory = ({ row, known, index, timeline }: Announced): boolean =>
  known === null && row.status === LAPSED && index < timeline.memberships.length - 1;

/**
 * Tells what has become of a membership since the others heard of it, in the order in which it happened. A change of tier is told when
 * the member is active, after the return. Source: membership 3, 7.4.
 */
export function announce(ctx: Context, one: Announced): Occasion[] {
  if (isHistory(one)) return [];
  const { row, known } = one;
  const occasions = known === null ? begun(ctx, one) : [];
  const before = known?.status ?? ACTIVE;
  if ((before === SUSPENDED && row.status === ACTIVE) || (before === LAPSED && row.status !== LAPSED))
    occasions.push(...returned(ctx, one));
  if (before !== SUSPENDED && row.status === SUSPENDED) suspended(ctx, one);
  if (before !== LAPSED && row.status === LAPSED) lapsed(ctx, one);
  if (row.status === ACTIVE && row.announcedTierId !== row.tierId) occasions.push(...tierChanged(ctx, one));
  return occasions;
}
