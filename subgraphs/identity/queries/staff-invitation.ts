import type { Context } from '../../../runtime/request/context.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { UserEmail } from '../entities/user.js';
import { findByLink } from './challenge.js';
import { activeMethods } from './mfa.js';
import { staffOf } from './staff-power.js';

const TEMPLATES = ['staff_invitation'] as const;

/** The entry that a link invites to, whatever has become of it; null for a link that was never sent. Spends nothing. */
export async function invitedBy(ctx: Context, token: string): Promise<{ staff: StaffMember; open: boolean } | null> {
  const challenge = await findByLink(ctx, token, TEMPLATES);
  const staff = challenge?.staffId ? await ctx.em.findOne(StaffMember, { id: challenge.staffId }) : null;
  if (!challenge || !staff) return null;
  return { staff, open: staff.status === StaffMemberStatus.INVITED && challenge.consumedAt === null && challenge.expiresAt > ctx.now() };
}

const STAFF_APP = `
select id, name, homepage_url as "homepageUrl", redirect_uris as "redirectUris" from identity.oauth_client
where staff_access and status = 'active' order by brand_id is distinct from $1::uuid, created_at, id limit 1`;

/** An app in which staff work. */
export interface StaffApp {
  id: string;
  name: string;
  homepageUrl: string | null;
  redirectUris: string[];
}

/** Where staff of a brand work, else where any staff do; null where there is no such app yet. */
export const staffAppOf = async (ctx: Context, brandId: string | null): Promise<StaffApp | null> =>
  (await ctx.sql<StaffApp>(STAFF_APP, [brandId]))[0] ?? null;

const INVITED = `
select 1 as invited from identity.user_email e join identity.staff_member s on s.email_key = e.email_key
where e.user_id = $1 and e.verified_at is not null and s.status = 'invited' and s.invite_expires_at > $2`;

/** Whether an open invitation waits for somebody at their proven address. */
export const isInvited = async (ctx: Context, userId: string): Promise<boolean> =>
  (await ctx.sql(INVITED, [userId, ctx.now().toISOString()])).length > 0;

/** What still keeps somebody from accepting: nobody else's invitation, and no work without a second factor. Source: identity 3, Staff. */
export type Obstacle = 'wrong_account' | 'mfa_required' | 'already_staff';

export async function obstacleOf(ctx: Context, staff: StaffMember, userId: string): Promise<Obstacle | null> {
  const email = await ctx.em.findOne(UserEmail, { userId });
  if (email?.emailKey !== staff.emailKey || email.verifiedAt === null) return 'wrong_account';
  if (await staffOf(ctx, userId)) return 'already_staff';
  return (await activeMethods(ctx, userId)).length === 0 ? 'mfa_required' : null;
}
