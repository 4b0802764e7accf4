import type { Context } from '../../../runtime/request/context.js';
import { endFamilies, familyRevocations, publishRevocations } from './token-family.js';

/** Gives an account its password, an argon2id hash; the one before is gone. */
export async function setPassword(ctx: Context, userId: string, hash: string): Promise<void> {
  await ctx.sql(
    `insert into identity.credential_password (user_id, hash, changed_at) values ($1, $2, $3)
     on conflict (user_id) do update set hash = excluded.hash, changed_at = excluded.changed_at`,
    [userId, hash, ctx.now().toISOString()],
  );
}

/**
 * Ends every sign-in of an account and all that was opened in them, apps of others included: somebody else may have used it. Every live
 * access token belongs to a family, so it dies with it. Call it last. Source: identity A4.
 */
export async function signOutEverywhere(ctx: Context, userId: string): Promise<void> {
  const sessions = await ctx.sql<{ id: string }>(
    'update identity.auth_session set ended_at = $2 where user_id = $1 and ended_at is null returning id',
    [userId, ctx.now().toISOString()],
  );
  const families = await endFamilies(ctx, 'user_id', userId, 'signed_out');
  ctx.audit('user.signed_out', userId, { sessions: sessions.length, families: families.length });
  await publishRevocations(ctx, familyRevocations(ctx, families));
}
