import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { holdsPermission } from '../../../runtime/request/caller.js';
import { OAuthClient } from '../entities/client.js';
import { OAuthGrant } from '../entities/grant.js';
import { User, UserStatus } from '../entities/user.js';
import { isAdmin } from './viewer.js';

interface Reference {
  id: string;
}

const idsOf = (references: readonly Reference[]): string[] => references.map(one => String(one.id));

/** What stands for an account that is not there (any more), so that lists of other services do not break. Source: identity 6. */
const gone = (id: string): User => Object.assign(new User(), { id, status: UserStatus.ERASED });

/** Every id is answered; what the caller may know of an account is decided by its fields. */
export async function loadUsers(ctx: Context, references: readonly Reference[]): Promise<User[]> {
  const ids = idsOf(references);
  const rows = await ctx.em.find(User, { id: { $in: ids.filter(isUuid) } });
  return inOrder(ids, rows, row => row.id).map((row, index) => row ?? gone(ids[index]!));
}

const seesAllClients = ({ caller }: Context): boolean =>
  isAdmin(caller) || caller.serviceSlug !== null || holdsPermission(caller, 'admin:identity:clients');

/** Users see the apps that they have let in, and every caller sees its own client. */
async function visibleClients(ctx: Context, ids: readonly string[]): Promise<string[]> {
  if (seesAllClients(ctx)) return [...ids];
  const rows = await ctx.sql<{ client_id: string }>(
    'select distinct client_id from identity.oauth_grant where client_id = any($1) and user_id = $2',
    [ids, ctx.caller.userId],
  );
  return ids.filter(id => id === ctx.caller.clientId || rows.some(row => row.client_id === id));
}

export async function loadClients(ctx: Context, references: readonly Reference[]): Promise<(OAuthClient | null)[]> {
  const ids = idsOf(references);
  return inOrder(ids, await ctx.em.find(OAuthClient, { id: { $in: await visibleClients(ctx, ids) } }), row => row.id);
}

/** A user token finds its own grants only. */
export async function loadGrants(ctx: Context, references: readonly Reference[]): Promise<(OAuthGrant | null)[]> {
  const ids = idsOf(references);
  const all = isAdmin(ctx.caller) || ctx.caller.serviceSlug !== null;
  if (!all && ctx.caller.userId === null) return ids.map(() => null);
  const where = { id: { $in: ids.filter(isUuid) }, ...(all ? {} : { userId: ctx.caller.userId! }) };
  return inOrder(ids, await ctx.em.find(OAuthGrant, where), row => row.id);
}
