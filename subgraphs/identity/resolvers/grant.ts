import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { OAuthClient } from '../entities/client.js';
import { OAuthGrant, OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import { User } from '../entities/user.js';
import { effectiveScopesOf, revokeConsent } from '../commands/consent.js';
import { clientOf, userOf } from '../queries/batches.js';

/** Ids of grants that deliver: active, or stale while another device still uses them. */
const DELIVERING = `
select g.id from identity.oauth_grant g where g.user_id = any($1::uuid[]) and ($2::text is null or g.client_id = $2)
and (g.status = 'active' or (g.status = 'stale' and exists (select 1 from identity.token_family f where f.grant_id = g.id and f.ended_at is null)))`;

@Resolver(() => OAuthGrant)
export class GrantResolver {
  @Access({ internal: true })
  @Query(() => [OAuthGrant], { description: 'Grants under which apps may learn of these users now; of one client or of all.' })
  async activeGrants(
    @Ctx() ctx: Context,
    @Rule({ maxItems: 500 }) @Arg('userIds', () => [ID]) userIds: string[],
    @Arg('clientId', () => String, { nullable: true }) clientId?: string | null,
  ): Promise<OAuthGrant[]> {
    const rows = await ctx.sql<{ id: string }>(DELIVERING, [userIds.filter(isUuid), clientId ?? null]);
    return ctx.em.find(OAuthGrant, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  }

  /** A third-party app disconnects itself only; a grant of another user is as absent as one that never was. */
  @Access({ user: 'manage:connected_apps' })
  @Mutation(() => OAuthGrant, { description: "Ends one's consent to an app and signs the app out everywhere." })
  async revokeGrant(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthGrant> {
    const { userId, clientId, firstParty } = ctx.caller;
    const where = { id, userId: userId!, status: { $ne: OAuthGrantStatus.REVOKED } };
    const grant = isUuid(id) ? await ctx.em.findOne(OAuthGrant, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null; // PESSIMISTIC_WRITE
    if (!grant) fail('not_found', 'Not found');
    if (!firstParty && grant.clientId !== clientId) fail('forbidden', 'An app may disconnect itself only');
    await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.USER, reason: 'user_revoked', families: 'grant_revoked' });
    return grant;
  }

  @FieldResolver(() => User)
  async user(@Root() grant: OAuthGrant, @Ctx() ctx: Context): Promise<User> {
    return (await userOf(ctx, grant.userId)) ?? fail('not_found', 'Not found');
  }

  @FieldResolver(() => OAuthClient)
  async client(@Root() grant: OAuthGrant, @Ctx() ctx: Context): Promise<OAuthClient> {
    return (await clientOf(ctx, grant.clientId)) ?? fail('not_found', 'Not found');
  }

  @FieldResolver(() => [String], { description: "What the app may do now: granted, within the client's scopes and its agreements." })
  effectiveScopes(@Root() grant: OAuthGrant, @Ctx() ctx: Context): Promise<string[]> {
    return grant.status === OAuthGrantStatus.REVOKED ? Promise.resolve([]) : effectiveScopesOf(ctx, grant);
  }

  @FieldResolver(() => Int, { description: 'Devices on which the app is signed in.' })
  async authorizations(@Root() grant: OAuthGrant, @Ctx() ctx: Context): Promise<number> {
    const count = await ctx.load('identity.authorizations', grant.id, async ids => {
      const rows = await ctx.sql<{ grant_id: string; live: number }>(
        'select grant_id, count(*)::int as live from identity.token_family where grant_id = any($1::uuid[]) and ended_at is null group by grant_id',
        [ids],
      );
      const live = new Map(rows.map(row => [row.grant_id, row.live]));
      return ids.map(id => live.get(id) ?? 0);
    });
    return count ?? 0;
  }
}
