import { addressKey } from '../../../runtime/access/rate-limit.js';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { AuthChallenge, AuthChallengeChannel, type PhoneVerification } from '../entities/challenge.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { User, UserStatus } from '../entities/user.js';
import type { ConfirmPhoneInput } from '../inputs/credential.js';
import { maskedPhone } from '../rules/phones.js';
import { acceptCode, endChallenges, issueChallenge, refuseCode, type Miss } from './challenge.js';
import { takeLimit } from './count-limit.js';
import { noteCrmChange } from './crm-change.js';
import { sendNotice } from './notice.js';

/** Counts a code for a number, from an address and by an account; all three, so that none hides another. @returns seconds to wait. */
async function waitFor(ctx: Context, userId: string, phone: string): Promise<number | null> {
  const waits = [
    await takeLimit(ctx, 'mail_per_address', phone),
    await takeLimit(ctx, 'mail_per_ip', addressKey(ctx.request.ip ?? '')),
    await takeLimit(ctx, 'phone_code_per_account', userId),
  ].filter(wait => wait !== null);
  return waits.length > 0 ? Math.max(...waits) : null;
}

/** The caller's account, so that what is asked of it and confirmed follow one another. */
const lockOwn = (ctx: Context): Promise<User> => lockRow(ctx, User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE });

async function request(ctx: Context, phone: string): Promise<PhoneVerification | number> {
  const { id: userId } = await lockOwn(ctx);
  const wait = await waitFor(ctx, userId, phone);
  if (wait !== null) return wait;
  await endChallenges(ctx, 'user_id', userId, ['phone_verify']);
  const challenge = await issueChallenge(ctx, { template: 'phone_verify', to: phone, userId, channel: AuthChallengeChannel.SMS });
  return { challengeId: challenge.id, sentTo: maskedPhone(phone), expiresAt: challenge.expiresAt };
}

/** Sends a code to a number, the account's or one that it is to have; one that was sent before is void. @throws Problem rate_limited. */
export async function requestPhoneVerification(ctx: Context, phone: string): Promise<PhoneVerification> {
  const answer = await ctx.host.transaction(own => request(own, phone), ctx.request);
  if (typeof answer === 'number') fail('rate_limited', 'So many codes are not sent', { retryAfter: answer });
  return answer;
}

/** The number is the account's, and confirmed. Numbers may stand at several accounts. */
async function replacePhone(ctx: Context, user: User, phone: string): Promise<void> {
  const before = user.phone;
  Object.assign(user, { phone, phoneVerifiedAt: ctx.now(), updatedAt: ctx.now() });
  ctx.audit('phone.verified', user.id);
  if (before === phone) return;
  if (before !== null) sendNotice(ctx, user.id, 'phone_changed');
  await noteCrmChange(ctx, user.id, CrmSyncReason.CONTACT);
}

/** The code is spent or counted in any case, so the verdict is answered after the commit. */
async function confirm(ctx: Context, { challengeId, code }: ConfirmPhoneInput): Promise<{ userId: string } | Miss> {
  const user = await lockOwn(ctx);
  const proven = await acceptCode(ctx, challengeId, code, ['phone_verify']);
  if (typeof proven === 'string') return proven;
  await replacePhone(ctx, user, proven.to);
  return { userId: user.id };
}

/** Makes the number that the code was sent to that of the caller's account. @throws Problem not_found, invalid_request, conflict. */
export async function confirmPhone(ctx: Context, input: ConfirmPhoneInput): Promise<User> {
  const where = { id: input.challengeId, userId: ctx.caller.userId!, template: 'phone_verify' };
  const challenge = await requireRow(ctx, AuthChallenge, where);
  const verdict = await ctx.host.transaction(own => confirm(own, input), ctx.request);
  if (typeof verdict === 'string') return refuseCode(ctx, challenge, verdict);
  return ctx.em.findOneOrFail(User, verdict.userId);
}

/** Takes the number off the caller's account, and what was sent to one; without one nothing changes. */
export async function removePhone(ctx: Context): Promise<User> {
  const user = await lockOwn(ctx);
  await endChallenges(ctx, 'user_id', user.id, ['phone_verify']);
  if (user.phone === null) return user;
  Object.assign(user, { phone: null, phoneVerifiedAt: null, updatedAt: ctx.now() });
  ctx.audit('phone.removed', user.id);
  await noteCrmChange(ctx, user.id, CrmSyncReason.CONTACT);
  return user;
}
