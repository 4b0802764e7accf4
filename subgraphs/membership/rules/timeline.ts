import { DAY_MS } from '../../../runtime/time/durations.js';
import { MembershipStatus, type LapseReason, type MembershipSource, type SuspensionReason, type TierDirection } from '../entities/enums.js';

/** A membership as its facts come to. */
export interface Folded {
  /** What began it: `subscription:<id>` or `granted:<fact id>`. */
  origin: string;
  planId: string;
  tierId: string;
  status: MembershipStatus;
  source: MembershipSource;
  subscriptionId: string | null;
  reasons: SuspensionReason[];
  startedAt: Date;
  activeSince: Date | null;
  periodStart: Date | null;
  periodEnd: Date | null;
  suspendedAt: Date | null;
  graceUntil: Date | null;
  compEndsAt: Date | null;
  lapsedAt: Date | null;
  lapseReason: LapseReason | null;
  involuntary: boolean;
  /** Whoever left with debts or by fraud is not asked back. Source: membership 3. */
  mayBeWonBack: boolean;
}

/** A time with one tier and one status; `to` null: it holds. */
export interface Segment {
  /** Index of the membership. */
  membership: number;
  tierId: string;
  status: MembershipStatus;
  from: Date;
  to: Date | null;
}

export interface Change {
  membership: number;
  fromTierId: string;
  toTierId: string;
  direction: TierDirection;
  at: Date;
}

/** Everything that the facts of a user in a brand come to. */
export interface Timeline {
  brandId: string;
  memberships: readonly Folded[];
  /** Without gap or overlap, from the first membership on. */
  segments: readonly Segment[];
  changes: readonly Change[];
  optedOut: boolean;
  erased: boolean;
}

/** Adds what holds from an instant on: what held no time is left out, and what is the same goes on. */
export function mark(segments: Segment[], next: Omit<Segment, 'to'>): void {
  let last = segments.at(-1);
  if (last && last.from >= next.from) {
    segments.pop();
    last = segments.at(-1);
    if (last) last.to = null;
  }
  if (last && last.membership === next.membership && last.tierId === next.tierId && last.status === next.status) return;
  if (last) last.to = next.from;
  segments.push({ ...next, to: null });
}

const lengthOf = ({ from, to }: Segment): number => (to === null ? 0 : to.getTime() - from.getTime());

/** Time as an active member in what is over, up to the given membership, ms. */
export const closedTenureMs = (segments: readonly Segment[], membership: number): number =>
  segments
    .filter(one => one.status === MembershipStatus.ACTIVE && one.membership <= membership)
    .reduce((sum, one) => sum + lengthOf(one), 0);

/** Whole days as an active member. */
export const tenureDaysOf = (closedMs: number, activeSince: Date | null, now: Date): number =>
  Math.floor((closedMs + (activeSince === null ? 0 : Math.max(0, now.getTime() - activeSince.getTime()))) / DAY_MS);

/** When an active member had, or will have, been one for so many days; null: not as things stand. */
export function tenureReachedAt(segments: readonly Segment[], days: number): Date | null {
  let missing = days * DAY_MS;
  for (const one of segments.filter(({ status }) => status === MembershipStatus.ACTIVE)) {
    if (one.to === null || lengthOf(one) >= missing) return new Date(one.from.getTime() + missing);
    missing -= lengthOf(one);
  }
  return null;
}

export const daysBetween = (from: Date, to: Date): number => Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY_MS));
