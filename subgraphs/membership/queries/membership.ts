import type { FilterQuery } from '@mikro-orm/postgresql';
import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, toConnection, decodeCursor, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { findRow, rowsBy } from '../../../runtime/data/rows.js';
import { READERS } from '../entities/access.js';
import { Membership, MembershipPeriod } from '../entities/membership.js';
import { MembershipTier } from '../entities/plan.js';
import { MilestoneUnlock } from '../entities/rewards.js';
import type { MembershipsArgs } from '../inputs/membership.js';

const ANYBODYS = ruleOf({ service: '*', staff: READERS.staff });

/** Whether the caller may know of a user's membership: the own one, or as a service or staff anybody's. */
export const mayAskAbout = ({ caller }: Context, userId: string): boolean =>
  userId.toLowerCase() === caller.userId || mayAccess(ANYBODYS, caller);

/** What the rows of this caller have in common. */
export const ownRows = ({ caller }: Context): { userId?: string } => (mayAccess(ANYBODYS, caller) ? {} : { userId: caller.userId! });

const BY_AGE = { orderBy: { startedAt: 'desc', id: 'desc' } } as const;

/** The newest membership of each brand, the newest first. */
const newestOfEach = (rows: readonly Membership[]): Membership[] =>
  rows.filter((row, index) => rows.findIndex(one => one.brandId === row.brandId) === index);

/** The newest membership in each brand of some users, in one statement. */
export async function newestOf(ctx: Context, userIds: readonly string[]): Promise<Membership[][]> {
  const rows = await ctx.em.find(Membership, { userId: { $in: [...userIds] } }, BY_AGE);
  return userIds.map(id => newestOfEach(rows.filter(row => row.userId === id)));
}

/** The same as one list. */
export const currentOf = async (ctx: Context, userIds: readonly string[]): Promise<Membership[]> =>
  (
    await newestOf(
      ctx,
      userIds.map(id => id.toLowerCase()),
    )
  ).flat();

const loadNewest = async (ctx: Context, userId: string): Promise<Membership[]> =>
  (await ctx.load('memberships', userId, ids => newestOf(ctx, ids))) ?? [];

/** A user's membership in a brand; without one, in the token's, else the newest. */
export async function membershipOf(ctx: Context, userId: string, brandId: string | null | undefined): Promise<Membership | null> {
  const rows = isUuid(userId) ? await loadNewest(ctx, userId.toLowerCase()) : [];
  const brand = brandId?.toLowerCase() ?? ctx.caller.brandId;
  return (brand === null ? rows[0] : rows.find(row => row.brandId === brand)) ?? null;
}

/** The caller's own. @throws Problem not_found for one who was never a member; invalid_request where no brand says which of several. */
export async function ownMembership(ctx: Context, brandId: string | null | undefined, pointer: string): Promise<Membership> {
  const userId = ctx.caller.userId!;
  const rows = await loadNewest(ctx, userId);
  if (brandId == null && ctx.caller.brandId === null && rows.length > 1)
    fail('invalid_request', 'The brand is missing', { errors: [{ pointer, message: 'is required by a member of several brands' }] });
  return (await membershipOf(ctx, userId, brandId)) ?? fail('not_found', 'Not found');
}

/** Memberships of anybody, newest first. */
export async function membershipsPage(ctx: Context, args: MembershipsArgs): Promise<Connection<Membership>> {
  const { userId, status, planId, tierKey, ...paging } = args;
  const asked = {
    ...(userId && { userId: userId.toLowerCase() }),
    ...(status && { status }),
    ...(planId && { planId: planId.toLowerCase() }),
  };
  const tiers = tierKey ? await ctx.em.find(MembershipTier, { key: tierKey }) : null;
  const where: FilterQuery<Membership> = { ...asked, ...(tiers && { tierId: { $in: tiers.map(tier => tier.id) } }) };
  return page(ctx.em, Membership, where, paging, { time: 'createdAt' });
}

/** A membership that the caller may see. */
export const visibleMembership = (ctx: Context, id: string): Promise<Membership | null> =>
  findRow(ctx, Membership, { id, ...ownRows(ctx) });

/** What a membership was, newest first; by when it began, which is unique in it. */
export async function periodsPage(ctx: Context, membershipId: string, { first, after }: PageArgs): Promise<Connection<MembershipPeriod>> {
  const before = after ? { from: { $lt: instantOf(after) } } : {};
  const options = { orderBy: { from: 'desc' }, limit: first + 1 } as const;
  const rows = await ctx.em.find(MembershipPeriod, { membershipId, ...before }, options);
  return toConnection(rows, first, row => [row.from.toISOString()]);
}

function instantOf(cursor: string): Date {
  const at = new Date(String(decodeCursor(cursor, 1)[0]));
  if (Number.isNaN(at.getTime())) decodeCursor('', 1);
  return at;
}

/** What a user was a member of at an instant, in each brand. Source: membership 9.3. */
export const periodsAt = (ctx: Context, userId: string, at: Date): Promise<MembershipPeriod[]> =>
  ctx.em.find(
    MembershipPeriod,
    { userId: userId.toLowerCase(), from: { $lte: at }, $or: [{ to: null }, { to: { $gt: at } }] },
    { orderBy: { brandId: 'asc' } },
  );

export const milestonesOf = (ctx: Context, userId: string): Promise<MilestoneUnlock[]> =>
  ctx.em.find(MilestoneUnlock, { userId: userId.toLowerCase() }, { orderBy: { unlockedAt: 'desc', id: 'desc' } });

/** Memberships by their subscriptions, those that the caller may see. */
export const bySubscription = (ctx: Context, ids: readonly string[]): Promise<(Membership | null)[]> =>
  rowsBy(ctx, Membership, 'subscriptionId', ids, ownRows(ctx));
