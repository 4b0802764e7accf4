import { raw, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { connectionOf, page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { ResolvedStaff, TeamMember } from '../entities/team.js';
import { ResolveStaffInput, StaffListArgs, type StaffFilter, type StaffIdentityInput } from '../inputs/staff.js';
import { emailKey } from '../rules/visibility.js';
import { avatarUrlOf } from './avatar.js';
import { profileOf } from '../queries/batches.js';

const StaffMemberConnection = connectionOf(StaffMember, 'StaffMember');
const TeamMemberConnection = connectionOf(TeamMember, 'TeamMember');

const READS = { service: 'admin:identity', staff: 'admin:identity:read' } as const;

const hasRole = (role: string, now: Date): FilterQuery<StaffMember> => ({
  [raw(
    alias => `(${alias}.status = 'invited' and ? = any(${alias}.invited_roles) or exists (select 1 from identity.role_assignment a
      where a.user_id = ${alias}.user_id and a.role = ? and a.revoked_at is null and (a.expires_at is null or a.expires_at > ?)))`,
    [role, role, now.toISOString()],
  )]: [],
});

function hasName(q: string): FilterQuery<StaffMember> {
  const beginning = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`;
  return { $or: [{ emailKey: { $like: beginning(emailKey(q)) } }, { displayName: { $ilike: beginning(q) } }] } as FilterQuery<StaffMember>;
}

function whereOf({ status, role, q }: StaffFilter, now: Date): FilterQuery<StaffMember> {
  const conditions: FilterQuery<StaffMember>[] = [];
  if (status?.length) conditions.push({ status: { $in: status } });
  if (role) conditions.push(hasRole(role, now));
  if (q) conditions.push(hasName(q));
  return { $and: conditions } as FilterQuery<StaffMember>;
}

async function asColleague(ctx: Context, { id, userId, displayName, title, department, email }: StaffMember): Promise<TeamMember> {
  const profile = await profileOf(ctx, userId!);
  return {
    id,
    displayName: displayName ?? profile?.displayName ?? null,
    title,
    department,
    email,
    avatarUrl: profile && avatarUrlOf(ctx, profile),
  };
}

const kindsGiven = ({ email, userId, staffId }: StaffIdentityInput): number => [email, userId, staffId].filter(one => one != null).length;

/** Whether an entry is what an identity names. */
const fits = ({ email, userId, staffId }: StaffIdentityInput, row: StaffMember): boolean =>
  email != null ? row.emailKey === emailKey(email) : userId != null ? row.userId === userId : row.id === staffId;

const uuids = (ids: readonly (string | null | undefined)[]): string[] => ids.filter((id): id is string => id != null && isUuid(id));

/** All entries that one of the identities names, in one statement: those that are not over first, then the newest. */
async function named(ctx: Context, identities: readonly StaffIdentityInput[]): Promise<StaffMember[]> {
  const rows = await ctx.em.find(
    StaffMember,
    {
      $or: [
        { emailKey: { $in: identities.flatMap(one => (one.email == null ? [] : [emailKey(one.email)])) } },
        { userId: { $in: uuids(identities.map(one => one.userId)) } },
        { id: { $in: uuids(identities.map(one => one.staffId)) } },
      ],
    },
    { orderBy: { invitedAt: 'desc', id: 'desc' } },
  );
  const open: readonly StaffMemberStatus[] = [StaffMemberStatus.ACTIVE, StaffMemberStatus.SUSPENDED, StaffMemberStatus.INVITED];
  return [...rows.filter(row => open.includes(row.status)), ...rows.filter(row => !open.includes(row.status))];
}

@Resolver()
export class StaffResolver {
  @Access(READS)
  @Query(() => StaffMemberConnection, { description: 'Who works here, worked here, or was asked to; newest first.' })
  staff(@Args(() => StaffListArgs) args: StaffListArgs, @Ctx() ctx: Context): Promise<Connection<StaffMember>> {
    return page(ctx.em, StaffMember, whereOf(args.filter ?? {}, ctx.now()), args, { time: 'invitedAt' });
  }

  @Access({ ...READS, internal: true })
  @Query(() => StaffMember, { nullable: true, description: 'An entry of the staff; other services see its id, status and roles.' })
  async staffMember(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StaffMember | null> {
    return isUuid(id) ? ctx.em.findOne(StaffMember, { id }) : null;
  }

  @Access(READS)
  @Query(() => [ResolvedStaff], { description: 'Who stands behind each identity, in order; open entries come before those that are over.' })
  async resolveStaff(
    @Arg('input', () => ResolveStaffInput) { identities }: ResolveStaffInput,
    @Ctx() ctx: Context,
  ): Promise<ResolvedStaff[]> {
    const message = 'give exactly one of email, user_id and staff_id';
    const errors = identities.flatMap((one, index) => (kindsGiven(one) === 1 ? [] : [{ pointer: `/input/identities/${index}`, message }]));
    requireValid(errors);
    const rows = await named(ctx, identities);
    return identities.map(one => {
      const { email = null, userId = null, staffId = null } = one;
      return { identity: { email, userId, staffId }, staff: rows.find(row => fits(one, row)) ?? null };
    });
  }

  @Access({ service: 'admin:identity', staff: '*' })
  @Query(() => TeamMemberConnection, { description: 'Colleagues who let themselves be seen, newest first.' })
  async internalTeam(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<TeamMember>> {
    const where = { status: StaffMemberStatus.ACTIVE, visibleInTeam: true };
    const { nodes, pageInfo } = await page(ctx.em, StaffMember, where, args, { time: 'invitedAt' });
    return { nodes: await Promise.all(nodes.map(row => asColleague(ctx, row))), pageInfo };
  }
}
