import type { EntityClass } from '@mikro-orm/postgresql';
import { Permanent } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { LapseReason, MembershipPlanStatus, MembershipStatus } from '../entities/enums.js';
import type { MembershipFact } from '../entities/fact.js';
import { Membership, MembershipPeriod, TierChange } from '../entities/membership.js';
import { MembershipPlan, MembershipTier } from '../entities/plan.js';
import { Catalogue, UnknownPlan } from '../rules/catalogue.js';
import { fold } from '../rules/fold.js';
import { columnsOf, differs, paired, type Pair } from '../rules/rows.js';
import type { Timeline } from '../rules/timeline.js';
import { announce, type Known } from './announcement.js';
import { asFacts, factsOf } from './facts.js';
import { reward, winBack } from './rewards.js';

/** Plans and tiers of the brands in which the facts name a plan. */
async function catalogueOf(ctx: Context, facts: readonly MembershipFact[]): Promise<Catalogue> {
  const named = [...new Set(facts.flatMap(({ data }) => (data as { plan_id?: string }).plan_id ?? []))];
  if (named.length === 0) return new Catalogue([], []);
  const brands = (await ctx.em.find(MembershipPlan, { id: { $in: named } })).map(plan => plan.brandId);
  if (brands.length === 0) return new Catalogue([], []);
  const plans = await ctx.em.find(MembershipPlan, { brandId: { $in: [...new Set(brands)] }, status: { $ne: MembershipPlanStatus.DRAFT } });
  const tiers = await ctx.em.find(MembershipTier, { planId: { $in: plans.map(plan => plan.id) } });
  return new Catalogue(plans, tiers);
}

interface Shown {
  row: Membership;
  known: Known;
  index: number;
}

/** Writes what the facts say into a row; a new one is told of on the tier that it has. */
function write(ctx: Context, userId: string, { row, one }: Pair, index: number, timeline: Timeline): Shown {
  const columns = columnsOf(one, index, timeline);
  if (!row) {
    const made = { userId, brandId: timeline.brandId, announcedTierId: one.tierId, createdAt: ctx.now() };
    return { index, known: null, row: Object.assign(new Membership(), made, columns) };
  }
  const known = { status: row.status, suspendedAt: row.suspendedAt, lapsedAt: row.lapsedAt };
  if (differs(row, columns)) Object.assign(row, columns, { version: row.version + 1 });
  return { index, known, row };
}

/** A late fact can make one membership of two: the row that is left over ends as it began. */
function close(row: Membership): void {
  const over = {
    status: MembershipStatus.LAPSED,
    lapseReason: row.lapseReason ?? LapseReason.CANCELLED,
    lapsedAt: row.lapsedAt ?? row.startedAt,
  };
  Object.assign(row, over, { subscriptionId: null, suspensionReasons: [], activeSince: null, graceUntil: null, dueAt: null });
}

/** Replaces what differs from the end on, so that most changes close one row and open the next. */
async function replace<Row extends { id: string }>(
  ctx: Context,
  entity: EntityClass<Row>,
  stored: readonly Row[],
  wanted: readonly Row[],
  isSame: (a: Row, b: Row) => boolean,
): Promise<void> {
  let kept = 0;
  while (kept < stored.length && kept < wanted.length && isSame(stored[kept]!, wanted[kept]!)) kept++;
  const gone = stored.slice(kept).map(row => row.id);
  if (gone.length) await ctx.em.nativeDelete(entity, { id: { $in: gone } } as never); // a flush would insert first
  await ctx.em.persist(wanted.slice(kept)).flush();
}

const timeOf = (at: Date | null): number | null => at?.getTime() ?? null;

async function writePeriods(ctx: Context, userId: string, { segments, brandId }: Timeline, rows: readonly Membership[]): Promise<void> {
  const stored = await ctx.em.find(MembershipPeriod, { userId, brandId }, { orderBy: { from: 'asc' } });
  const wanted = segments.map(({ membership, ...segment }) =>
    Object.assign(new MembershipPeriod(), segment, { membershipId: rows[membership]!.id, userId, brandId }),
  );
  const last = stored.at(-1);
  const closing = last?.to === null ? wanted[stored.length - 1] : undefined;
  if (last && closing && isSamePeriod({ ...last, to: closing.to }, closing)) last.to = closing.to;
  await ctx.em.flush();
  await replace(ctx, MembershipPeriod, stored, wanted, isSamePeriod);
}

const isSamePeriod = (a: MembershipPeriod, b: MembershipPeriod): boolean =>
  a.membershipId === b.membershipId &&
  a.tierId === b.tierId &&
  a.status === b.status &&
  timeOf(a.from) === timeOf(b.from) &&
  timeOf(a.to) === timeOf(b.to);

async function writeChanges(ctx: Context, { changes }: Timeline, rows: readonly Membership[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const stored = await ctx.em.find(TierChange, { membershipId: { $in: ids } }, { orderBy: { effectiveAt: 'asc', id: 'asc' } });
  const wanted = changes.map(({ membership, fromTierId, toTierId, direction, at }) =>
    Object.assign(new TierChange(), { membershipId: ids[membership]!, fromTierId, toTierId, direction, effectiveAt: at }),
  );
  const isSame = (a: TierChange, b: TierChange): boolean =>
    a.membershipId === b.membershipId && a.toTierId === b.toTierId && timeOf(a.effectiveAt) === timeOf(b.effectiveAt);
  await replace(ctx, TierChange, stored, wanted, isSame);
}

const earliest = (instants: readonly (Date | null | undefined)[]): Date | null =>
  instants.filter(at => at != null).sort((a, b) => a.getTime() - b.getTime())[0] ?? null;

/** Brings rows, periods, events and rewards of a user in a brand to what the facts say. */
async function project(ctx: Context, userId: string, timeline: Timeline, catalogue: Catalogue): Promise<void> {
  const { brandId, memberships } = timeline;
  const stored = await ctx.em.find(Membership, { userId, brandId }, { orderBy: { startedAt: 'asc', id: 'asc' }, refresh: true });
  if (memberships.length === 0) return;
  const { pairs, left } = paired(stored, memberships);
  const shown = pairs.map((pair, index) => write(ctx, userId, pair, index, timeline));
  left.forEach(close);
  await ctx.em.flush(); // those that have lapsed, before the one that is not
  const rows = shown.map(({ row }) => row);
  await ctx.em.persist(rows).flush();
  await writePeriods(ctx, userId, timeline, rows);
  await writeChanges(ctx, timeline, rows);
  const occasions = shown.flatMap(one => announce(ctx, { ...one, timeline, catalogue, isFirst: stored.length === 0 && one.index === 0 }));
  const member = { row: rows.at(-1)!, timeline, catalogue, occasions };
  const live = memberships.at(-1)!;
  const dates = [live.graceUntil, live.compEndsAt, await reward(ctx, member), await winBack(ctx, member, rows)];
  rows.forEach(row => (row.dueAt = null));
  member.row.dueAt = earliest(dates);
  await ctx.em.flush();
}

/**
 * Makes a member's state anew from all facts; whoever calls holds the member's lock. What differs from before is written and told.
 * @throws Permanent where a fact names a plan or tier that there is not.
 */
export async function refold(ctx: Context, userId: string): Promise<void> {
  const rows = await factsOf(ctx, userId);
  const catalogue = await catalogueOf(ctx, rows);
  const { timelines, settled } = folded(rows, catalogue, ctx.now());
  for (const row of rows) {
    const more = settled.get(row.id);
    if (more && Object.entries(more).some(([name, value]) => (row.data as Record<string, unknown>)[name] !== value))
      row.data = { ...row.data, ...more };
  }
  for (const timeline of timelines) await project(ctx, userId, timeline, catalogue);
}

function folded(rows: readonly MembershipFact[], catalogue: Catalogue, now: Date) {
  try {
    return fold(asFacts(rows), catalogue, now);
  } catch (error) {
    if (error instanceof UnknownPlan) throw new Permanent('unknown_plan');
    throw error;
  }
}
