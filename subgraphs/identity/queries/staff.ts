import { type FilterQuery, raw } from '@mikro-orm/postgresql';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { requireValid } from '../../../runtime/request/errors.js';
import { type Connection, page, type PageArgs } from '../../../runtime/request/paging.js';
import { type ResolvedStaff, StaffMember, StaffMemberStatus, type TeamMember } from '../entities/staff.js';
import type { StaffFilter, StaffIdentityInput, StaffListArgs } from '../inputs/staff.js';
import { avatarUrl } from '../rules/avatar.js';
import { emailKey } from '../rules/emails.js';
import { profileOf } from './batches.js';
import { beginning } from './search.js';

const hasRole = (role: string, now: Date): FilterQuery<StaffMember> => ({
  [raw(
    alias => `(${alias}.status = 'invited' and ? = any(${alias}.invited_roles) or exists (select 1 from identity.role_assignment a
      where a.user_id = ${alias}.user_id and a.role = ? and a.revoked_at is null and (a.expires_at is null or a.expires_at > ?)))`,
    [role, role, now.toISOString()],
  )]: [],
});

const hasName = (q: string): FilterQuery<StaffMember> =>
  ({ $or: [{ emailKey: { $like: beginning(emailKey(q)) } }, { displayName: { $ilike: beginning(q) } }] }) as FilterQuery<StaffMember>;

function whereOf({ status, role, q }: StaffFilter, now: Date): FilterQuery<StaffMember> {
  const conditions: FilterQuery<StaffMember>[] = [];
  if (status?.length) conditions.push({ status: { $in: status } });
  if (role) conditions.push(hasRole(role, now));
  if (q) conditions.push(hasName(q));
  return { $and: conditions } as FilterQuery<StaffMember>;
}

/** Who works here, worked here, or was asked to; newest first. */
export const listStaff = (ctx: Context, args: StaffListArgs): Promise<Connection<StaffMember>> =>
  page(ctx.em, StaffMember, whereOf(args.filter ?? {}, ctx.now()), args, { time: 'invitedAt' });

const waysOf = ({ email, userId, staffId }: StaffIdentityInput): number => [email, userId, staffId].filter(one => one != null).length;

/** Whether an entry is what an identity names. */
const fits = ({ email, userId, staffId }: StaffIdentityInput, row: StaffMember): boolean =>
  email != null ? row.emailKey === emailKey(email) : userId != null ? row.userId === userId : row.id === staffId;

const uuids = (ids: readonly (string | null | undefined)[]): string[] => ids.filter((id): id is string => id != null && isUuid(id));

const { ACTIVE, SUSPENDED, INVITED } = StaffMemberStatus;
const OPEN: readonly StaffMemberStatus[] = [ACTIVE, SUSPENDED, INVITED];

/** All entries that one of the identities names, in one statement: those that are not over first, then the newest. */
async function named(ctx: Context, identities: readonly StaffIdentityInput[]): Promise<StaffMember[]> {
  const keys = identities.flatMap(one => (one.email == null ? [] : [emailKey(one.email)]));
  const [userIds, ids] = [uuids(identities.map(one => one.userId)), uuids(identities.map(one => one.staffId))];
  const where = { $or: [{ emailKey: { $in: keys } }, { userId: { $in: userIds } }, { id: { $in: ids } }] };
  const rows = await ctx.em.find(StaffMember, where, { orderBy: { invitedAt: 'desc', id: 'desc' } });
  return [...rows.filter(row => OPEN.includes(row.status)), ...rows.filter(row => !OPEN.includes(row.status))];
}

/** Who stands behind each identity, in order; open entries come before those that are over. @throws Problem invalid_request. */
export async function resolvedStaff(ctx: Context, identities: readonly StaffIdentityInput[]): Promise<ResolvedStaff[]> {
  const message = 'give exactly one of email, user_id and staff_id';
  requireValid(identities.flatMap((one, index) => (waysOf(one) === 1 ? [] : [{ pointer: `/input/identities/${index}`, message }])));
  const rows = await named(ctx, identities);
  return identities.map(one => {
    const { email = null, userId = null, staffId = null } = one;
    return { identity: { email, userId, staffId }, staff: rows.find(row => fits(one, row)) ?? null };
  });
}

async function asColleague(ctx: Context, { id, userId, displayName, title, department, email }: StaffMember): Promise<TeamMember> {
  const profile = await profileOf(ctx, userId!);
  const { issuer } = ctx.host.config;
  return {
    id,
    displayName: displayName ?? profile?.displayName ?? null,
    title,
    department,
    email,
    avatarUrl: profile?.avatarKey ? avatarUrl(issuer, profile.avatarKey) : null,
  };
}

/** Colleagues who let themselves be seen, newest first. */
export async function teamPage(ctx: Context, args: PageArgs): Promise<Connection<TeamMember>> {
  const where = { status: ACTIVE, visibleInTeam: true };
  const { nodes, pageInfo } = await page(ctx.em, StaffMember, where, args, { time: 'invitedAt' });
  return { nodes: await Promise.all(nodes.map(row => asColleague(ctx, row))), pageInfo };
}
