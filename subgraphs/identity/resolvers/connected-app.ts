import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, Int, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { OAuthClient } from '../entities/client.js';
import { ConnectedApp, ConnectedAppScope } from '../entities/connected-app.js';
import { OAuthGrant, OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import { User } from '../entities/user.js';
import { ReportScopeUseInput, WithdrawScopeInput } from '../inputs/connected-app.js';
import { SCOPE_TITLES } from '../rules/scope-titles.js';
import { isPhi, scopeSet } from '../rules/scopes.js';
import { emitChange, revokeConsent } from '../commands/consent.js';
import { noteGrantedScopes, noteUses, scopeRows, type ScopeRow } from '../commands/scope-use.js';
import { endFamiliesHolding, familyRevocations, publishRevocations } from '../commands/token-family.js';

const scopeOf = ({ scope, granted, used }: ScopeRow): ConnectedAppScope => ({
  name: scope,
  title: SCOPE_TITLES[scope] ?? scope,
  sensitive: isPhi(scope),
  grantedAt: new Date(granted),
  lastUsedAt: used === null ? null : new Date(used),
});

const latest = (dates: readonly (Date | null)[]): Date | null =>
  dates.reduce((last, one) => (one !== null && (last === null || one > last) ? one : last), null);

async function devicesOf(ctx: Context, grantIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await ctx.sql<{ grant_id: string; live: number }>(
    'select grant_id, count(*)::int as live from identity.token_family where grant_id = any($1::uuid[]) and ended_at is null group by grant_id',
    [grantIds],
  );
  return new Map(rows.map(row => [row.grant_id, row.live]));
}

async function appsOf(ctx: Context, userId: string): Promise<ConnectedApp[]> {
  const where = { userId, status: { $ne: OAuthGrantStatus.REVOKED } };
  const grants = await ctx.em.find(OAuthGrant, where, { orderBy: { grantedAt: 'desc', id: 'desc' } });
  const ids = grants.map(one => one.id);
  const [rows, devices, clients] = [
    await scopeRows(ctx, ids),
    await devicesOf(ctx, ids),
    await ctx.em.find(OAuthClient, { id: { $in: grants.map(one => one.clientId) } }),
  ];
  return grants.map(grant => {
    const scopes = rows.filter(row => row.grant_id === grant.id).map(scopeOf);
    return {
      client: clients.find(one => one.id === grant.clientId)!,
      grantId: grant.id,
      scopes,
      connectedAt: grant.grantedAt,
      lastUsedAt: latest([grant.lastUsedAt, ...scopes.map(one => one.lastUsedAt)]),
      devices: devices.get(grant.id) ?? 0,
    };
  });
}

async function narrow(ctx: Context, grant: OAuthGrant, scope: string): Promise<void> {
  const scopes = grant.scopes.filter(one => one !== scope);
  const declinedScopes = scopeSet([...grant.declinedScopes, scope]);
  Object.assign(grant, { scopes, declinedScopes, version: grant.version + 1, updatedAt: ctx.now() });
  await noteGrantedScopes(ctx, grant);
  ctx.audit('grant.scope_withdrawn', grant.id, { client_id: grant.clientId, scope });
  await emitChange(ctx, grant, 'scopes_changed');
}

/** What apps may do and do; an app sees the others' too (`manage:connected_apps`), but changes only what is its own. */
@Resolver(() => User)
export class ConnectedAppResolver {
  @Access({ user: 'manage:connected_apps' })
  @FieldResolver(() => [ConnectedApp], { nullable: true, description: 'Apps that one has let in, newest first; null for others.' })
  async connectedApps(@Root() user: User, @Ctx() ctx: Context): Promise<ConnectedApp[] | null> {
    return ctx.caller.userId === user.id ? appsOf(ctx, user.id) : null;
  }

  /** One statement that may be repeated and that changes nothing anybody decides by, so it leaves no audit row each minute. */
  @OwnTransactions('the same uses are noted again')
  @Access({ internal: true })
  @Mutation(() => Int, { description: 'Notes which apps used which scopes; how many granted scopes that were.' })
  reportScopeUse(@Arg('input', () => ReportScopeUseInput) input: ReportScopeUseInput, @Ctx() ctx: Context): Promise<number> {
    return noteUses(ctx, input.uses);
  }

  /** The choice is remembered as declined, so the app does not ask again; its devices sign in anew, without the scope. */
  @Access({ user: 'manage:connected_apps' })
  @Mutation(() => OAuthGrant, { description: 'Takes one scope back from an app; with its last one the app is disconnected.' })
  async withdrawScope(@Arg('input', () => WithdrawScopeInput) input: WithdrawScopeInput, @Ctx() ctx: Context): Promise<OAuthGrant> {
    const { clientId, scope } = input;
    const userId = ctx.caller.userId!;
    const where = { clientId, userId, status: { $ne: OAuthGrantStatus.REVOKED } };
    const grant = await ctx.em.findOne(OAuthGrant, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!grant?.scopes.includes(scope)) fail('not_found', 'Not found');
    if (!ctx.caller.firstParty && clientId !== ctx.caller.clientId) fail('forbidden', 'An app may change its own access only');
    if (grant.scopes.length === 1) {
      await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.USER, reason: 'user_revoked', families: 'grant_revoked' });
      return grant;
    }
    await narrow(ctx, grant, scope);
    const ended = await endFamiliesHolding(ctx, grant.id, scope);
    await publishRevocations(ctx, familyRevocations(ctx, ended));
    return grant;
  }
}
