import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { disconnectApp, revokeGrant, withdrawScope } from '../commands/connected-app.js';
import { noteUses } from '../commands/scope-use.js';
import { OAuthClient } from '../entities/client.js';
import { ConnectedApp, OAuthGrant, OAuthGrantInclude, OAuthGrantStatus } from '../entities/grant.js';
import { User } from '../entities/user.js';
import { ReportScopeUseInput, WithdrawScopeInput } from '../inputs/grant.js';
import { clientOf, userOf } from '../queries/batches.js';
import { authorizationsOf, connectedAppsOf, deliveringGrants, effectiveScopesOf, grantsOf } from '../queries/grant.js';
import { seesPart } from '../queries/viewer.js';

const OWN = { user: 'manage:connected_apps' } as const;

@Resolver(() => OAuthGrant)
export class GrantResolver {
  @Access({ internal: true })
  @Query(() => [OAuthGrant], { description: 'Grants under which apps may learn of these users now; of one client or of all.' })
  activeGrants(
    @Ctx() ctx: Context,
    @Rule({ maxItems: 500 }) @Arg('userIds', () => [ID]) userIds: string[],
    @Arg('clientId', () => String, { nullable: true }) clientId?: string | null,
  ): Promise<OAuthGrant[]> {
    return deliveringGrants(ctx, userIds, clientId ?? null);
  }

  @Access(OWN)
  @Mutation(() => OAuthGrant, { description: "Ends one's consent to an app and signs the app out everywhere." })
  revokeGrant(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthGrant> {
    return revokeGrant(ctx, id);
  }

  @Access(OWN)
  @Mutation(() => OAuthGrant, { description: "Ends one's consent to an app and signs the app out everywhere." })
  disconnectApp(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: Context): Promise<OAuthGrant> {
    return disconnectApp(ctx, clientId);
  }

  @Access(OWN)
  @Mutation(() => OAuthGrant, { description: 'Takes one scope back from an app; with its last one the app is disconnected.' })
  withdrawScope(@Arg('input', () => WithdrawScopeInput) input: WithdrawScopeInput, @Ctx() ctx: Context): Promise<OAuthGrant> {
    return withdrawScope(ctx, input);
  }

  /** One statement that may be repeated and that changes nothing anybody decides by, so it leaves no audit row each minute. */
  @OwnTransactions('the same uses are noted again')
  @Access({ internal: true })
  @Mutation(() => Int, { description: 'Notes which apps used which scopes; how many granted scopes that were.' })
  reportScopeUse(@Arg('input', () => ReportScopeUseInput) input: ReportScopeUseInput, @Ctx() ctx: Context): Promise<number> {
    return noteUses(ctx, input.uses);
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
  async effectiveScopes(@Root() grant: OAuthGrant, @Ctx() ctx: Context): Promise<string[]> {
    return grant.status === OAuthGrantStatus.REVOKED ? [] : effectiveScopesOf(ctx, grant);
  }

  @FieldResolver(() => Int, { description: 'Devices on which the app is signed in.' })
  authorizations(@Root() grant: OAuthGrant, @Ctx() ctx: Context): Promise<number> {
    return authorizationsOf(ctx, grant.id);
  }
}

/** What apps may do and do; an app sees the others' too (`manage:connected_apps`), but changes only what is its own. */
@Resolver(() => User)
export class UserGrantsResolver {
  @Access({ service: 'admin:identity', user: 'manage:connected_apps', staff: 'admin:identity:read' })
  @FieldResolver(() => [OAuthGrant], { nullable: true, description: 'Consents that are not revoked, newest first.' })
  async grants(
    @Root() user: User,
    @Ctx() ctx: Context,
    @Arg('include', () => [OAuthGrantInclude], { nullable: true }) include?: OAuthGrantInclude[] | null,
  ): Promise<OAuthGrant[] | null> {
    if (!seesPart(ctx.caller, user, 'manage:connected_apps')) return null;
    return grantsOf(ctx, user.id, include?.includes(OAuthGrantInclude.REVOKED) ?? false);
  }

  @Access(OWN)
  @FieldResolver(() => [ConnectedApp], { nullable: true, description: 'Apps that one has let in, newest first; null for others.' })
  async connectedApps(@Root() user: User, @Ctx() ctx: Context): Promise<ConnectedApp[] | null> {
    return ctx.caller.userId === user.id ? connectedAppsOf(ctx, user.id) : null;
  }
}
