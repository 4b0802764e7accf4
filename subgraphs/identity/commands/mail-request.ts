import type { Context } from '../../../runtime/request/context.js';
import { UserStatus } from '../entities/user.js';
import { emailOf } from '../queries/batches.js';
import { newestOf } from '../queries/challenge.js';
import type { ChallengeTemplate } from '../rules/challenges.js';
import { emailKey } from '../rules/emails.js';
import { accountByEmail, type PendingAccount, plantPending } from './account.js';
import { issueChallenge, openField } from './challenge.js';
import { takeLimit } from './count-limit.js';
import { sendNotice } from './notice.js';

/** Who asks for a mail, and from where. */
export interface MailRequest {
  email: string;
  /** See `addressKey`. */
  address: string;
  interactionUid: string;
}

/** Counts a mail for an address and from an address; both, so that neither hides the other. Source: identity 4.16. */
async function mayMail(ctx: Context, { email, address }: MailRequest): Promise<boolean> {
  const waits = [await takeLimit(ctx, 'mail_per_address', emailKey(email)), await takeLimit(ctx, 'mail_per_ip', address)];
  return waits.every(wait => wait === null);
}

/**
 * Sends a link and a code, if the address is an account's that may use them. Nothing is answered, because nobody may learn whether it
 * is. A pending account is asked to prove its address. Source: identity 7, rules 6 and 7.
 */
export async function mailLink(ctx: Context, request: MailRequest, template: 'sign_in' | 'recovery'): Promise<void> {
  if (!(await mayMail(ctx, request))) return;
  const found = await accountByEmail(ctx, request.email);
  if (!found || (found.status !== UserStatus.ACTIVE && found.status !== UserStatus.PENDING)) return;
  const asked: ChallengeTemplate = found.status === UserStatus.PENDING && template === 'sign_in' ? 'sign_up' : template;
  await issueChallenge(ctx, { template: asked, to: found.email, userId: found.userId, interactionUid: request.interactionUid });
}

/** Sends the code of a second factor, within the limits of mails; the page is the same either way. Source: identity 4.1. */
export async function mailSecondFactor(ctx: Context, request: Omit<MailRequest, 'email'> & { userId: string }): Promise<void> {
  const email = (await emailOf(ctx, request.userId))?.email;
  if (!email || !(await mayMail(ctx, { ...request, email }))) return;
  await issueChallenge(ctx, { template: 'second_factor', to: email, userId: request.userId, interactionUid: request.interactionUid });
}

/** What a sign-up wants, and what takes effect with its proof; another sign-up of the address changes nothing of it. */
export interface SignUp extends MailRequest, PendingAccount {
  passwordHash: string;
  displayName: string;
}

/** Sends the mail of a sign-up once more, with what it wanted; none where none was sent. Nothing is answered. */
export async function mailSignUpAgain(ctx: Context, request: MailRequest): Promise<void> {
  if (!(await mayMail(ctx, request))) return;
  const last = await newestOf(ctx, request.interactionUid, ['sign_up']);
  const to = last && openField(ctx.host, 'recipient', last.id, last.recipientSealed);
  if (!last || last.consumedAt !== null || emailKey(to!) !== emailKey(request.email)) return;
  const payload = openField(ctx.host, 'payload', last.id, last.payloadSealed);
  await issueChallenge(ctx, {
    template: 'sign_up',
    to: to!,
    userId: last.userId,
    interactionUid: request.interactionUid,
    ...(payload !== null && { payload: JSON.parse(payload) as object }),
  });
}

/** Asks the address of a sign-up for its proof; the owner of an account that is there gets a notice. Nothing is answered. */
export async function mailSignUp(ctx: Context, wanted: SignUp): Promise<void> {
  if (!(await mayMail(ctx, wanted))) return;
  const { email, interactionUid, passwordHash, displayName } = wanted;
  const found = await accountByEmail(ctx, email);
  if (found && found.status !== UserStatus.PENDING) {
    if (found.status === UserStatus.ACTIVE) sendNotice(ctx, found.userId, 'sign_up_existing');
    return;
  }
  const userId = found?.userId ?? (await plantPending(ctx, wanted));
  await issueChallenge(ctx, {
    template: 'sign_up',
    to: found?.email ?? email,
    userId,
    interactionUid,
    payload: { passwordHash, displayName },
  });
}
