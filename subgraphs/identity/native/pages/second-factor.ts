import type { Context } from '../../../../runtime/request/context.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { acceptCode } from '../../commands/challenge.js';
import { mailSecondFactor } from '../../commands/mail-request.js';
import { acceptTotp, spendBackupCode } from '../../commands/second-factor.js';
import {
  beginProgress,
  endProgress,
  progressOf,
  proveFurther,
  type SignInProgress,
  spendAttempt,
} from '../../commands/sign-in-progress.js';
import { beginTotp, confirmPendingTotp, pendingTotp } from '../../commands/totp.js';
import { MfaMethodKind } from '../../entities/mfa.js';
import { StaffMemberStatus } from '../../entities/staff.js';
import { emailOf } from '../../queries/batches.js';
import { newestOf } from '../../queries/challenge.js';
import { activeMethods } from '../../queries/mfa.js';
import { isInvited } from '../../queries/staff-invitation.js';
import { staffOf } from '../../queries/staff-power.js';
import { maskedEmail } from '../../rules/emails.js';
import { SECOND_FACTOR_LIMIT } from '../../rules/limits.js';
import { furtherMethods, isSecondFactor, SECOND_FACTORS, type SecondFactorName } from '../../rules/second-factors.js';
import type { EngineStore } from '../oidc-provider/model.js';
import { PageError } from './form.js';
import type { Page } from './layout.js';
import { backupCodesPage, enrolmentPage, secondFactorPage, type SecondFactorWays } from './second-factor-views.js';
import { addressOf, asPerson, type Shown, type Turn } from './site.js';
import { Tries } from './tries.js';

/** What a form led to: somebody who is signed in, a page, a sign-in that has to begin again, or one that was given up. */
export type Outcome = { shown: Shown } | { page: Page } | 'again' | 'over';

const { TOTP, EMAIL_OTP } = MfaMethodKind;

const NOT_DUE = (): PageError => new PageError(400, 'This step is not due', 'Go back to the app and begin again.');

const isStaffMember = async (ctx: Context, userId: string): Promise<boolean> =>
  (await staffOf(ctx, userId))?.status === StaffMemberStatus.ACTIVE;

/** Who needs a second factor: staff everywhere, and who is invited, where staff work. */
const owesOne = async (ctx: Context, { app }: Turn, userId: string): Promise<boolean> =>
  (await isStaffMember(ctx, userId)) || (app.staffAccess && (await isInvited(ctx, userId)));

const requestOf = ({ ctx, interaction }: Turn) => ({ address: addressOf(ctx), interactionUid: interaction.uid });

const isEnrolment = ({ amr, enrolling }: SignInProgress): boolean => enrolling !== null || amr.includes('mfa');

const kindsOf = async (ctx: Context, { userId, amr }: Shown): Promise<MfaMethodKind[]> =>
  furtherMethods(
    (await activeMethods(ctx, userId)).map(one => one.kind),
    amr,
  );

async function isRight(
  ctx: Context,
  uid: string,
  { userId, amr }: SignInProgress,
  method: SecondFactorName,
  code: string,
): Promise<boolean> {
  if (method === 'backup_code') return spendBackupCode(ctx, userId, code);
  if (method === 'email_otp') return (await kindsOf(ctx, { userId, amr })).includes(EMAIL_OTP) && isMailed(ctx, uid, userId, code);
  const apps = (await activeMethods(ctx, userId)).filter(one => one.kind === TOTP);
  for (const app of apps) if (await acceptTotp(ctx, app, code)) return true;
  return false;
}

/** The code of the newest mail of this sign-in. */
async function isMailed(ctx: Context, uid: string, userId: string, code: string): Promise<boolean> {
  const challenge = await newestOf(ctx, uid, ['second_factor']);
  if (challenge?.userId !== userId) return false;
  return typeof (await acceptCode(ctx, challenge.id, code, ['second_factor'])) === 'object';
}

/**
 * The step between the first factor and the end of a sign-in: for everybody with a second factor, and for staff and those who are invited, who
 * set one up here when they have none. Its state is in the database, so any process can serve it. Source: identity 4.1, 4.16; 7, rule 9.
 */
export class SecondFactor {
  constructor(private readonly store: EngineStore) {}

  #as<T>(turn: Turn, userId: string, work: (tx: Context) => Promise<T>): Promise<T> {
    return this.store.host.transaction(work, internalRequest(asPerson(userId, turn.app.id)));
  }

  /** Remembers the first factor when a second one is due. */
  begin(turn: Turn, { userId, amr }: Shown): Promise<boolean> {
    if (amr.includes('mfa')) return Promise.resolve(false);
    return this.#as(turn, userId, async tx => {
      const kinds = await kindsOf(tx, { userId, amr });
      const hasMethod = kinds.length > 0;
      if (!hasMethod && !(await owesOne(tx, turn, userId))) return false;
      const enrolling = hasMethod ? null : (await beginTotp(tx, null)).methodId;
      await beginProgress(tx, turn.interaction.uid, { userId, amr: [...amr], enrolling });
      if (hasMethod && !kinds.includes(TOTP)) await mailSecondFactor(tx, { userId, ...requestOf(turn) });
      return true;
    });
  }

  #progress({ interaction }: Turn): Promise<SignInProgress | null> {
    return this.store.host.read(ctx => progressOf(ctx, interaction.uid));
  }

  /** The page that is due; null: the first factor is. */
  async page(turn: Turn): Promise<Page | null> {
    const progress = await this.#progress(turn);
    if (!progress) return null;
    if (progress.amr.includes('mfa')) return backupCodesPage(turn, null);
    return progress.enrolling ? this.#enrolment(turn, progress, false) : secondFactorPage(turn, await this.#waysOf(progress));
  }

  /** What this person can answer with. */
  #waysOf(progress: SignInProgress): Promise<SecondFactorWays> {
    return this.store.host.read(async ctx => {
      const { userId } = progress;
      const kinds = await kindsOf(ctx, progress);
      const left = await ctx.sql('select 1 as left from identity.backup_code where user_id = $1 and used_at is null limit 1', [userId]);
      const email = kinds.includes(EMAIL_OTP) ? ((await emailOf(ctx, userId))?.email ?? null) : null;
      return { app: kinds.includes(TOTP), email: email && maskedEmail(email), backupCodes: left.length > 0 };
    });
  }

  async #mail(turn: Turn, progress: SignInProgress): Promise<Outcome> {
    await this.#as(turn, progress.userId, async tx => {
      const { userId } = progress;
      if ((await kindsOf(tx, progress)).includes(EMAIL_OTP)) await mailSecondFactor(tx, { userId, ...requestOf(turn) });
    });
    return { page: secondFactorPage(turn, await this.#waysOf(progress)) };
  }

  /** Somebody who cannot go on begins again, perhaps as somebody else. */
  async #giveUp(turn: Turn, progress: SignInProgress | null): Promise<Outcome> {
    if (progress) await this.#as(turn, progress.userId, tx => endProgress(tx, turn.interaction.uid));
    return 'over';
  }

  /** Judges a code. */
  async answer(turn: Turn, form: URLSearchParams): Promise<Outcome> {
    const progress = await this.#progress(turn);
    if (form.get('restart') === '1') return this.#giveUp(turn, progress);
    if (!progress || isEnrolment(progress)) throw NOT_DUE();
    const method = form.get('method') ?? '';
    if (!isSecondFactor(method)) throw new PageError(400, 'There is no such way', 'Go back and choose another way to prove who you are.');
    if (method === 'email_otp' && form.get('resend') === '1') return this.#mail(turn, progress);
    const tries = new Tries(this.store, [[SECOND_FACTOR_LIMIT, progress.userId]]);
    await tries.take();
    const outcome = await this.#as(turn, progress.userId, tx => this.#judge(tx, turn, method, form.get('code') ?? ''));
    if (typeof outcome === 'object') {
      await tries.forget();
      return { shown: outcome };
    }
    return outcome === 'again' ? 'again' : { page: secondFactorPage(turn, await this.#waysOf(progress), method) };
  }

  async #judge(tx: Context, { interaction, app }: Turn, method: SecondFactorName, text: string): Promise<Shown | 'wrong' | 'again'> {
    const progress = await spendAttempt(tx, interaction.uid);
    if (!progress) return 'again';
    const right = await isRight(tx, interaction.uid, progress, method, text.trim().slice(0, 32).replace(/\s/g, ''));
    tx.audit(right ? 'second_factor.accepted' : 'second_factor.refused', progress.userId, { client_id: app.id, method });
    if (right) {
      await endProgress(tx, interaction.uid);
      return { userId: progress.userId, amr: [...progress.amr, ...SECOND_FACTORS[method]] };
    }
    if (progress.attemptsLeft > 0) return 'wrong';
    await endProgress(tx, interaction.uid);
    return 'again';
  }

  /** Staff without a second factor set one up; when it is there, they keep their backup codes and go on. */
  async enrol(turn: Turn, form: URLSearchParams): Promise<Outcome> {
    const progress = await this.#progress(turn);
    if (!progress || !isEnrolment(progress)) throw NOT_DUE();
    if (progress.amr.includes('mfa')) return this.#goOn(turn, progress);
    const code = (form.get('code') ?? '').replace(/\s/g, '').slice(0, 32);
    const verdict = await this.#as(turn, progress.userId, tx => this.#confirm(tx, turn, progress, code));
    const page = Array.isArray(verdict)
      ? backupCodesPage(turn, verdict)
      : verdict === 'wrong' && (await this.#enrolment(turn, progress, true));
    return page ? { page } : 'again';
  }

  async #goOn(turn: Turn, { userId, amr }: SignInProgress): Promise<Outcome> {
    const ended = await this.#as(turn, userId, tx => endProgress(tx, turn.interaction.uid));
    return ended ? { shown: { userId, amr } } : 'again';
  }

  async #confirm(
    tx: Context,
    { interaction }: Turn,
    { enrolling, amr }: SignInProgress,
    code: string,
  ): Promise<string[] | 'wrong' | 'again'> {
    const verdict = await confirmPendingTotp(tx, { methodId: enrolling!, code });
    if (verdict === 'wrong') return 'wrong';
    if (verdict === 'gone' || verdict === 'unknown') {
      await endProgress(tx, interaction.uid);
      return 'again';
    }
    await proveFurther(tx, interaction.uid, [...amr, ...SECOND_FACTORS.totp]);
    return verdict.backupCodes ?? [];
  }

  /** Null when the method is gone: after ten minutes, five wrong codes, or because another one was begun. */
  async #enrolment(turn: Turn, { userId, enrolling }: SignInProgress, wrong: boolean): Promise<Page | null> {
    const enrolment = await this.#as(turn, userId, tx => pendingTotp(tx, enrolling!));
    return enrolment && enrolmentPage(turn, enrolment, wrong);
  }
}
