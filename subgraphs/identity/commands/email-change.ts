import { FOR_UPDATE, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { AuthChallenge, type EmailChangeRequest } from '../entities/challenge.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { User, UserEmail, UserStatus } from '../entities/user.js';
import type { ConfirmEmailChangeInput } from '../inputs/credential.js';
import { emailKey, maskedEmail } from '../rules/emails.js';
import { forgetPending } from './account.js';
import { acceptCode, acceptLink, endChallenges, issueChallenge, refuseCode, type Miss, type Proven } from './challenge.js';
import { takeLimit } from './count-limit.js';
import { noteCrmChange } from './crm-change.js';
import { sendNotice } from './notice.js';
import { setPassword } from './password.js';
import { endOtherSessions, signOutEverywhere } from './session.js';

const TAKEN = 'There is an account with this e-mail address';

interface Holder {
  id: string;
  status: UserStatus;
}

/** Who has an address; nobody waits for them. */
async function holderOf(ctx: Context, email: string): Promise<Holder | null> {
  const text = 'select u.id, u.status from identity.user_email e join identity."user" u on u.id = e.user_id where e.email_key = $1';
  return (await ctx.sql<Holder>(text, [emailKey(email)]))[0] ?? null;
}

async function lockedEmail(ctx: Context, userId: string): Promise<UserEmail> {
  await lockRow(ctx, User, { id: userId, status: UserStatus.ACTIVE });
  return requireRow(ctx, UserEmail, { userId });
}

/**
 * Sends a code to the new address. If it is somebody's, they get a notice instead and the code goes nowhere: the answer is the same, and
 * so is what wrong codes lead to.
 */
async function request(ctx: Context, newEmail: string): Promise<EmailChangeRequest | number> {
  const current = await lockedEmail(ctx, ctx.caller.userId!);
  if (current.emailKey === emailKey(newEmail)) invalid('/input/newEmail', 'is the address of this account');
  const wait = await takeLimit(ctx, 'email_change_per_account', current.userId);
  if (wait !== null) return wait;
  const holder = await holderOf(ctx, newEmail);
  const isTaken = holder !== null && holder.status !== UserStatus.PENDING;
  if (isTaken && holder.status === UserStatus.ACTIVE) sendNotice(ctx, holder.id, 'email_wanted_elsewhere');
  await endChallenges(ctx, 'user_id', current.userId, ['email_change']);
  const { id, expiresAt } = await issueChallenge(ctx, { template: 'email_change', to: newEmail, userId: current.userId, unsent: isTaken });
  return { challengeId: id, sentTo: maskedEmail(newEmail), expiresAt };
}

/** Replaces the address of an account; who holds it without having proven it loses it. @returns false when it is taken. */
async function replaceEmail(ctx: Context, userId: string, email: string): Promise<boolean> {
  const holder = await holderOf(ctx, email);
  if (holder && holder.id !== userId && holder.status !== UserStatus.PENDING) return false;
  if (holder && holder.id !== userId) await forgetPending(ctx, [holder.id]);
  const now = ctx.now().toISOString();
  await ctx.sql('update identity.user_email set email = $2, email_key = $3, verified_at = $4 where user_id = $1', [
    userId,
    email,
    emailKey(email),
    now,
  ]);
  await ctx.sql('update identity."user" set updated_at = $2, version = version + 1 where id = $1', [userId, now]);
  await noteCrmChange(ctx, userId, CrmSyncReason.CONTACT);
  return true;
}

type Verdict = { userId: string } | 'taken' | Miss;

/** The code is spent or counted in any case, so the verdict is answered after the commit. */
async function confirm(ctx: Context, { challengeId, code }: ConfirmEmailChangeInput): Promise<Verdict> {
  const { userId, email: old } = await lockedEmail(ctx, ctx.caller.userId!);
  const proven = await acceptCode(ctx, challengeId, code, ['email_change']);
  if (typeof proven === 'string') return proven;
  if (!(await replaceEmail(ctx, userId, proven.to))) return 'taken';
  await issueChallenge(ctx, { template: 'email_undo', to: old, userId });
  ctx.audit('email.changed', userId);
  ctx.em.clear(); // the address was written past it
  await endOtherSessions(ctx);
  return { userId };
}

/** Sends a code to the address that the caller's account is to have. @throws Problem invalid_request, not_found, rate_limited. */
export async function requestEmailChange(ctx: Context, newEmail: string): Promise<EmailChangeRequest> {
  const answer = await ctx.host.transaction(own => request(own, newEmail), ctx.request);
  if (typeof answer === 'number') fail('rate_limited', 'The address can be changed three times an hour', { retryAfter: answer });
  return answer;
}

/** Makes the new address that of the caller's account. @throws Problem not_found, invalid_request, conflict with the request's state. */
export async function confirmEmailChange(ctx: Context, input: ConfirmEmailChangeInput): Promise<User> {
  const where = { id: input.challengeId, userId: ctx.caller.userId!, template: 'email_change' };
  const challenge = await requireRow(ctx, AuthChallenge, where);
  const verdict = await ctx.host.transaction(own => confirm(own, input), ctx.request);
  if (typeof verdict === 'object') return ctx.em.findOneOrFail(User, verdict.userId);
  if (verdict === 'taken') fail('conflict', TAKEN, { reason: 'email_taken' });
  return refuseCode(ctx, challenge, verdict);
}

/**
 * Takes a change back, for whom the old address belongs to: it is theirs again, with a new password, and everybody is signed out. Undo
 * links of later changes end, those of earlier ones stay good. Call it last. @returns what became of it.
 */
export async function undoEmailChange(ctx: Context, token: string, passwordHash: string): Promise<'done' | 'gone' | 'taken'> {
  const proven = await acceptLink(ctx, token, ['email_undo']);
  if (!proven?.userId) return 'gone';
  const user = await ctx.em.findOne(User, { id: proven.userId }, FOR_UPDATE);
  if (!user || ![UserStatus.ACTIVE, UserStatus.SUSPENDED].includes(user.status)) return 'gone';
  ctx.em.clear(); // it is written past it
  return (await replaceEmail(ctx, proven.userId, proven.to)) ? restore(ctx, proven, passwordHash) : 'taken';
}

async function restore(ctx: Context, { id, userId }: Proven, passwordHash: string): Promise<'done'> {
  await setPassword(ctx, userId!, passwordHash);
  await endChallenges(ctx, 'user_id', userId!, ['sign_in', 'recovery', 'email_change', 'second_factor', 'reauthenticate']);
  const later = await ctx.em.find(AuthChallenge, { userId, template: 'email_undo', consumedAt: null, id: { $gt: id } });
  for (const challenge of later) await endChallenges(ctx, 'id', challenge.id, ['email_undo']);
  ctx.em.clear();
  ctx.audit('email.change_undone', userId);
  sendNotice(ctx, userId!, 'email_change_undone');
  await signOutEverywhere(ctx, userId!);
  return 'done';
}
