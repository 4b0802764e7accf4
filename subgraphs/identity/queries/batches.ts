import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { OAuthClient, OAuthClientAgreement } from '../entities/client.js';
import { UserSettings } from '../entities/settings.js';
import { Role } from '../entities/staff.js';
import { User, UserEmail, UserProfile } from '../entities/user.js';

/** One statement per level: what hangs on an account or a client, batched over a request. */
export const profileOf = (ctx: Context, userId: string): Promise<UserProfile | null> =>
  ctx.load('identity.profile', userId, async ids =>
    inOrder(ids, await ctx.em.find(UserProfile, { userId: { $in: ids.filter(isUuid) } }), row => row.userId),
  );

export const userOf = (ctx: Context, userId: string): Promise<User | null> =>
  ctx.load('identity.user', userId, async ids => inOrder(ids, await ctx.em.find(User, { id: { $in: ids.filter(isUuid) } }), row => row.id));

export const emailOf = (ctx: Context, userId: string): Promise<UserEmail | null> =>
  ctx.load('identity.email', userId, async ids =>
    inOrder(ids, await ctx.em.find(UserEmail, { userId: { $in: ids.filter(isUuid) } }), row => row.userId),
  );

export const settingsOf = (ctx: Context, userId: string): Promise<UserSettings | null> =>
  ctx.load('identity.settings', userId, async ids =>
    inOrder(ids, await ctx.em.find(UserSettings, { userId: { $in: ids.filter(isUuid) } }), row => row.userId),
  );

export const clientOf = (ctx: Context, clientId: string): Promise<OAuthClient | null> =>
  ctx.load('identity.client', clientId, async ids =>
    inOrder(ids, await ctx.em.find(OAuthClient, { id: { $in: [...ids] } }), row => row.id),
  );

export const roleOf = (ctx: Context, key: string): Promise<Role | null> =>
  ctx.load('identity.role', key, async keys => inOrder(keys, await ctx.em.find(Role, { key: { $in: [...keys] } }), row => row.key));

/** Agreements of a client, ended ones included. */
export async function agreementsOf(ctx: Context, clientId: string): Promise<OAuthClientAgreement[]> {
  const found = await ctx.load('identity.agreements', clientId, async ids => {
    const rows = await ctx.em.find(OAuthClientAgreement, { clientId: { $in: [...ids] } }, { orderBy: { signedAt: 'asc' } });
    return ids.map(id => rows.filter(row => row.clientId === id));
  });
  return found ?? [];
}
