import type { Context } from '../../../runtime/request/context.js';
import { UserStatus } from '../entities/user.js';
import { emailKey } from '../rules/emails.js';
import { activate } from './account.js';
import { endChallenges, type Proven } from './challenge.js';
import { sendNotice } from './notice.js';
import { setPassword } from './password.js';
import { signOutEverywhere } from './session.js';

interface Account {
  status: UserStatus;
  key: string;
}

async function lockedAccount(ctx: Context, userId: string): Promise<Account | null> {
  const [row] = await ctx.sql<Account>(
    'select u.status, e.email_key as key from identity."user" u join identity.user_email e on e.user_id = u.id where u.id = $1 for no key update',
    [userId],
  );
  return row ?? null;
}

/** What a sign-up brought along: it takes effect for whoever proved the address, and for nobody else. */
interface SignUpPayload {
  passwordHash?: string;
  displayName?: string;
}

/**
 * Somebody has proven to read the mail of an address. A pending account becomes active, with the password of this very sign-up.
 * @returns the account that they may sign in to; null when it is closed or the address is no longer its.
 */
export async function proveAddress(ctx: Context, { userId, to, payload }: Proven): Promise<string | null> {
  const account = userId === null ? null : await lockedAccount(ctx, userId);
  if (!account || account.key !== emailKey(to)) return null;
  if (account.status !== UserStatus.ACTIVE && account.status !== UserStatus.PENDING) return null;
  await ctx.sql('update identity.user_email set verified_at = coalesce(verified_at, $2) where user_id = $1', [
    userId,
    ctx.now().toISOString(),
  ]);
  if (account.status === UserStatus.PENDING) {
    const { passwordHash, displayName = null } = (payload ?? {}) as SignUpPayload;
    if (passwordHash) await setPassword(ctx, userId!, passwordHash);
    await activate(ctx, userId!, displayName);
    await endChallenges(ctx, 'user_id', userId!, ['sign_up']);
  }
  return userId;
}

/** A new password for whom proved the address: every sign-in ends, apps included. Call it last. @returns as `proveAddress`. */
export async function recover(ctx: Context, proven: Proven, passwordHash: string): Promise<string | null> {
  const userId = await proveAddress(ctx, proven);
  if (userId === null) return null;
  await setPassword(ctx, userId, passwordHash);
  await endChallenges(ctx, 'user_id', userId, ['sign_in', 'recovery']);
  ctx.audit('password.reset', userId);
  sendNotice(ctx, userId, 'password_changed');
  await signOutEverywhere(ctx, userId);
  return userId;
}
