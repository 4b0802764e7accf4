import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { AuthChallenge } from '../entities/challenge.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { EmailChangeRequest } from '../entities/email-change.js';
import { User, UserEmail, UserStatus } from '../entities/user.js';
import { ConfirmEmailChangeInput, RequestEmailChangeInput } from '../inputs/credential.js';
import { challengeState } from '../rules/challenges.js';
import { maskedEmail } from '../rules/masks.js';
import { emailKey } from '../rules/visibility.js';
import { acceptCode, acceptLink, endChallenges, issueChallenge, type Miss, type Proven } from '../commands/challenge.js';
import { setPassword, signOutEverywhere } from '../commands/credential.js';
import { noteCrmChange } from '../commands/crm-change.js';
import { takeLimit } from '../commands/count-limit.js';
import { sendNotice } from '../commands/notice.js';
import { forgetPending } from '../commands/registration.js';
import { endOtherSessions } from './session.js';

const OWN = { user: 'read:account', firstParty: true } as const;

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
  const user = await ctx.em.findOne(User, { id: userId, status: UserStatus.ACTIVE }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const email = user && (await ctx.em.findOne(UserEmail, { userId }));
  return email ?? fail('not_found', 'Not found');
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

/** Puts an address in the place of the one before; who holds it without having proven it loses it. @returns false when it is taken. */
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

/** The code is spent or counted in any case, so the verdict is told after the commit. */
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

/** The caller's own challenge. @throws not_found */
async function ownChallenge(ctx: Context, id: string): Promise<AuthChallenge> {
  const where = { id, userId: ctx.caller.userId!, template: 'email_change' };
  return (isUuid(id) ? await ctx.em.findOne(AuthChallenge, where) : null) ?? fail('not_found', 'Not found');
}

@Resolver()
export class EmailChangeResolver {
  @Access({ ...OWN, stepUp: 600 })
  @OwnTransactions('another code is sent, three times an hour at most')
  @Mutation(() => EmailChangeRequest, { description: 'Sends a code to the address that the account is to have.' })
  async requestEmailChange(
    @Arg('input', () => RequestEmailChangeInput) input: RequestEmailChangeInput,
    @Ctx() ctx: Context,
  ): Promise<EmailChangeRequest> {
    const answer = await ctx.host.transaction(own => request(own, input.newEmail), ctx.request);
    if (typeof answer === 'number') fail('rate_limited', 'The address can be changed three times an hour', { retryAfter: answer });
    return answer;
  }

  @Access(OWN)
  @OwnTransactions('the code is spent, so the repeat is refused')
  @Mutation(() => User, {
    description: 'Makes the new address that of the account; other sign-ins end, and the old address can undo it for 72 h.',
  })
  async confirmEmailChange(
    @Arg('input', () => ConfirmEmailChangeInput) input: ConfirmEmailChangeInput,
    @Ctx() ctx: Context,
  ): Promise<User> {
    const challenge = await ownChallenge(ctx, input.challengeId);
    const verdict = await ctx.host.transaction(own => confirm(own, input), ctx.request);
    if (typeof verdict === 'object') return ctx.em.findOneOrFail(User, verdict.userId);
    if (verdict === 'taken') fail('conflict', TAKEN, { reason: 'email_taken' });
    if (verdict === 'wrong') fail('invalid_request', 'The code is wrong', { errors: [{ pointer: '/input/code', message: 'is wrong' }] });
    const state = verdict === 'exhausted' ? 'exhausted' : challengeState(challenge, ctx.now());
    fail('conflict', `The request is ${state}; begin again`, { reason: state });
  }
}

/**
 * Takes a change back, for whom the old address belongs to: it is theirs again, with a new password, and everybody is signed out. Undo
 * links of later changes end, those of earlier ones stay good. Call it last. @returns what became of it.
 */
export async function undoEmailChange(ctx: Context, token: string, passwordHash: string): Promise<'done' | 'gone' | 'taken'> {
  const proven = await acceptLink(ctx, token, ['email_undo']);
  if (!proven?.userId) return 'gone';
  const user = await ctx.em.findOne(User, { id: proven.userId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
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
