import { requireRow } from '../../../runtime/data/rows.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { User, UserStatus } from '../entities/user.js';
import { hashPassword } from '../ports/argon2.js';
import { breachedPasswordsOf } from '../ports/breached-passwords.js';
import { isGuessable } from '../ports/zxcvbn.js';
import { emailOf } from '../queries/batches.js';
import { lengthFault } from '../rules/passwords.js';
import { sendNotice } from './notice.js';
import { endOtherSessions } from './session.js';

const GUESSABLE = 'This password is easy to guess. Use a longer one, for example four words that have nothing to do with each other.';

/** What is wrong with a new password, as its owner is told; null: nothing. `about`: texts that somebody would try first. Source: identity 4.1. */
export async function passwordFault(host: ServiceHost, text: string, about: readonly string[] = []): Promise<string | null> {
  const password = text.normalize('NFC');
  const fault = lengthFault(password);
  if (fault) return fault;
  if (await breachedPasswordsOf(host).has(password)) return 'This password is known from break-ins elsewhere. Use another one.';
  return (await isGuessable(password, about)) ? GUESSABLE : null;
}

/** Gives an account its password, an argon2id hash; the one before is gone. */
export async function setPassword(ctx: Context, userId: string, hash: string): Promise<void> {
  await ctx.sql(
    `insert into identity.credential_password (user_id, hash, changed_at) values ($1, $2, $3)
     on conflict (user_id) do update set hash = excluded.hash, changed_at = excluded.changed_at`,
    [userId, hash, ctx.now().toISOString()],
  );
}

async function store(ctx: Context, hash: string): Promise<User> {
  const user = await requireRow(ctx, User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE });
  await setPassword(ctx, user.id, hash);
  ctx.audit('password.changed', user.id);
  sendNotice(ctx, user.id, 'password_changed');
  await endOtherSessions(ctx);
  return user;
}

/**
 * Gives the caller a new password; other sign-ins end. Judged and hashed before its transaction, because that takes a while.
 * @throws Problem invalid_request, unavailable when too many passwords are hashed at once.
 */
export async function changePassword(ctx: Context, newPassword: string): Promise<User> {
  const email = await emailOf(ctx, ctx.caller.userId!);
  const fault = await passwordFault(ctx.host, newPassword, email ? [email.email, ...email.email.split('@')] : []);
  if (fault) invalid('/input/newPassword', fault);
  const hash = await hashPassword(newPassword);
  return ctx.host.transaction(own => store(own, hash), ctx.request);
}
