import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { OAuthClient } from '../entities/client.js';
import { OAuthGrant, OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import { AuthSession } from '../entities/session.js';
import { User } from '../entities/user.js';
import { revokeConsent } from '../commands/consent.js';
import { familyRevocations, publishRevocations } from '../commands/token-family.js';

const OWN = { user: 'read:account', firstParty: true } as const;

@Access(OWN)
@ObjectType({ description: 'How many sign-ins were ended.' })
export class SignOutOthers {
  @Field(() => Int)
  revoked: number;
}

/** Families of first-party apps end with the sign-in; those of other apps belong to the connected apps and live on. */
const END_FAMILIES = `
update identity.token_family set ended_at = $2, end_reason = 'signed_out' where id in (
  select f.id from identity.token_family f join identity.oauth_client c on c.id = f.client_id and c.first_party
  where f.session_id = any($1::uuid[]) and f.ended_at is null order by f.id for update of f) returning id`;

/** Ends sign-ins. Needs a transaction; call it last. @returns how many there were. */
async function endSessions(ctx: Context, sessions: readonly AuthSession[]): Promise<number> {
  for (const session of sessions) session.endedAt = ctx.now();
  await ctx.em.flush();
  const rows = await ctx.sql<{ id: string }>(END_FAMILIES, [sessions.map(one => one.id), ctx.now().toISOString()]);
  const ids = rows.map(row => row.id);
  if (ids.length) await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ids]);
  for (const { id } of sessions) ctx.audit('auth_session.ended', id);
  await publishRevocations(ctx, familyRevocations(ctx, ids));
  return sessions.length;
}

const live = (ctx: Context, userId: string) => ({ userId, endedAt: null, expiresAt: { $gt: ctx.now() } });

/** Ends all sign-ins of the caller but the one that asks. Needs a transaction; call it last. @returns how many there were. */
export async function endOtherSessions(ctx: Context): Promise<number> {
  const where = { ...live(ctx, ctx.caller.userId!), ...(ctx.caller.sid && { id: { $ne: ctx.caller.sid } }) };
  return endSessions(ctx, await ctx.em.find(AuthSession, where, { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE }));
}

/** A user finds only the own sign-ins. */
export async function loadSessions(ctx: Context, references: readonly { id: string }[]): Promise<(AuthSession | null)[]> {
  const ids = references.map(one => String(one.id));
  if (ctx.caller.userId === null) return ids.map(() => null);
  return inOrder(ids, await ctx.em.find(AuthSession, { id: { $in: ids.filter(isUuid) }, userId: ctx.caller.userId }), row => row.id);
}

@Resolver(() => AuthSession)
export class SessionResolver {
  @FieldResolver(() => Boolean, { description: 'The sign-in of the token that asks.' })
  current(@Root() session: AuthSession, @Ctx() ctx: Context): boolean {
    return session.id === ctx.caller.sid;
  }

  @FieldResolver(() => [OAuthClient], { description: 'Apps that are signed in with it.' })
  async clients(@Root() session: AuthSession, @Ctx() ctx: Context): Promise<OAuthClient[]> {
    const found = await ctx.load('identity.session_clients', session.id, async ids => {
      const rows = await ctx.sql<{ session_id: string; client_id: string }>(
        'select distinct session_id, client_id from identity.token_family where session_id = any($1::uuid[]) and ended_at is null order by client_id',
        [ids],
      );
      const clients = await ctx.em.find(OAuthClient, { id: { $in: rows.map(row => row.client_id) } });
      return ids.map(id => rows.filter(row => row.session_id === id).map(row => clients.find(one => one.id === row.client_id)!));
    });
    return found ?? [];
  }

  @Access(OWN)
  @Mutation(() => AuthSession, { description: 'Ends one of the own sign-ins and signs its first-party apps out.' })
  async revokeSession(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<AuthSession> {
    const where = { ...live(ctx, ctx.caller.userId!), id };
    const session = isUuid(id) ? await ctx.em.findOne(AuthSession, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
    if (!session) fail('not_found', 'Not found');
    await endSessions(ctx, [session]);
    return session;
  }

  @Access({ ...OWN, stepUp: 600 })
  @Mutation(() => SignOutOthers, { description: 'Ends all own sign-ins but this one; apps of others stay connected.' })
  async signOutOtherSessions(@Ctx() ctx: Context): Promise<SignOutOthers> {
    return { revoked: await endOtherSessions(ctx) };
  }

  /** The same as deleting its grant. A third-party app disconnects itself only. */
  @Access({ user: 'manage:connected_apps' })
  @Mutation(() => OAuthGrant, { description: "Ends one's consent to an app and signs the app out everywhere." })
  async disconnectApp(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: Context): Promise<OAuthGrant> {
    const where = { clientId, userId: ctx.caller.userId!, status: { $ne: OAuthGrantStatus.REVOKED } };
    const grant = await ctx.em.findOne(OAuthGrant, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!grant) fail('not_found', 'Not found');
    if (!ctx.caller.firstParty && clientId !== ctx.caller.clientId) fail('forbidden', 'An app may disconnect itself only');
    await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.USER, reason: 'user_revoked', families: 'grant_revoked' });
    return grant;
  }
}

@Resolver(() => User)
export class UserSessionsResolver {
  @Access(OWN)
  @FieldResolver(() => [AuthSession], { nullable: true, description: 'Own live sign-ins, newest activity first; null for others.' })
  async sessions(@Root() user: User, @Ctx() ctx: Context): Promise<AuthSession[] | null> {
    if (ctx.caller.userId !== user.id) return null;
    return ctx.em.find(AuthSession, live(ctx, user.id), { orderBy: { lastActiveAt: 'desc', id: 'desc' } });
  }
}
