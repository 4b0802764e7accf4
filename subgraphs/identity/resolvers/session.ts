import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { endOtherSessions, revokeSession } from '../commands/session.js';
import { OAuthClient } from '../entities/client.js';
import { AuthSession, SessionVerification, SignOutOthers } from '../entities/session.js';
import { User } from '../entities/user.js';
import { verifiedSession } from '../queries/session-verification.js';
import { appsOfSession, liveSessions } from '../queries/session.js';

const OWN = { user: 'read:account', firstParty: true } as const;

@Resolver(() => AuthSession)
export class SessionResolver {
  @FieldResolver(() => Boolean, { description: 'The sign-in of the token that asks.' })
  current(@Root() session: AuthSession, @Ctx() ctx: Context): boolean {
    return session.id === ctx.caller.sid;
  }

  @FieldResolver(() => [OAuthClient], { description: 'Apps that are signed in with it.' })
  clients(@Root() session: AuthSession, @Ctx() ctx: Context): Promise<OAuthClient[]> {
    return appsOfSession(ctx, session.id);
  }

  @Access({ service: 'admin:identity', user: '*' })
  @Query(() => SessionVerification, {
    description:
      'What a token is worth now; a user token without argument is told about itself. Never refuses because of the inspected token.',
  })
  verifySession(
    @Ctx() ctx: Context,
    @Rule({ minLength: 1, maxLength: 8192 }) @Arg('token', () => String, { nullable: true }) token?: string | null,
  ): Promise<SessionVerification> {
    return verifiedSession(ctx, token);
  }

  @Access(OWN)
  @Mutation(() => AuthSession, { description: 'Ends one of the own sign-ins and signs its first-party apps out.' })
  revokeSession(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<AuthSession> {
    return revokeSession(ctx, id);
  }

  @Access({ ...OWN, stepUp: 600 })
  @Mutation(() => SignOutOthers, { description: 'Ends all own sign-ins but this one; apps of others stay connected.' })
  async signOutOtherSessions(@Ctx() ctx: Context): Promise<SignOutOthers> {
    return { revoked: await endOtherSessions(ctx) };
  }
}

@Resolver(() => User)
export class UserSessionsResolver {
  @Access(OWN)
  @FieldResolver(() => [AuthSession], { nullable: true, description: 'Own live sign-ins, newest activity first; null for others.' })
  async sessions(@Root() user: User, @Ctx() ctx: Context): Promise<AuthSession[] | null> {
    if (ctx.caller.userId !== user.id) return null;
    return ctx.em.find(AuthSession, liveSessions(ctx, user.id), { orderBy: { lastActiveAt: 'desc', id: 'desc' } });
  }
}
