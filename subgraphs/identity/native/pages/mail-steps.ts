import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { acceptCode, type Proven } from '../../commands/challenge.js';
import { mailLink, mailSignUp, mailSignUpAgain } from '../../commands/mail-request.js';
import { passwordFault } from '../../commands/password.js';
import { proveAddress, recover } from '../../commands/proof.js';
import { hashPassword } from '../../ports/argon2.js';
import { newestOf } from '../../queries/challenge.js';
import type { ChallengeTemplate } from '../../rules/challenges.js';
import { EMAIL } from '../../rules/emails.js';
import { type FieldError, localeOf, type Page } from './layout.js';
import {
  type Asked,
  codePage,
  linkRequestPage,
  recoveryCodePage,
  recoveryRequestPage,
  signUpPage,
  WRONG_CODE as WRONG,
} from './mail-views.js';
import { passFirstFactor, recordSignIn } from './sign-in.js';
import { addressOf, type Site, type Turn } from './site.js';

type Form = URLSearchParams;
type Step = (site: Site, turn: Turn, form: Form) => Promise<void>;

const ONE_LINE = /^[^\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]{1,60}$/u;

const text = (form: Form, name: string): string => (form.get(name) ?? '').trim().normalize('NFC').slice(0, 254);

/** Mail of this browser's request; its link is good in this browser. */
function requestOf(site: Site, { ctx, interaction }: Turn, email: string) {
  site.expectLink(ctx, interaction.uid);
  return { email, address: addressOf(ctx), interactionUid: interaction.uid };
}

const NO_ADDRESS: FieldError = { field: 'email', message: 'This is no e-mail address.' };

/** The mail is asked for once more. */
const isAgain = (form: Form): boolean => form.get('resend') === '1';

/** The mail that a code's form is about. */
const askedBy = (form: Form): Asked => ({ way: form.get('way') === 'sign-up' ? 'sign-up' : 'magic-link', email: text(form, 'email') });

/** A link to sign in. The page is the same for every address and however often it was asked. */
const magicLink: Step = async (site, turn, form) => {
  const email = text(form, 'email');
  if (!EMAIL.test(email)) return site.render(turn, 422, linkRequestPage(turn, email, NO_ADDRESS));
  const request = requestOf(site, turn, email);
  await site.store.host.transaction(tx => mailLink(tx, request, 'sign_in'));
  site.render(turn, 200, codePage(turn, { way: 'magic-link', email }, { again: isAgain(form) }));
};

const recovery: Step = async (site, turn, form) => {
  const email = text(form, 'email');
  if (!EMAIL.test(email)) return site.render(turn, 422, recoveryRequestPage(turn, email, NO_ADDRESS));
  const request = requestOf(site, turn, email);
  await site.store.host.transaction(tx => mailLink(tx, request, 'recovery'));
  site.render(turn, 200, recoveryCodePage(turn, { way: 'recovery', email }, { again: isAgain(form) }));
};

/** Judges the code that this interaction's newest mail holds, and does with it what it is for; null: it did not fit. */
function byCode(
  site: Site,
  { interaction }: Turn,
  form: Form,
  templates: readonly ChallengeTemplate[],
  then: (ctx: Context, proven: Proven) => Promise<string | null>,
): Promise<string | null> {
  return site.store.host.transaction(async tx => {
    const challenge = await newestOf(tx, interaction.uid, templates);
    const proven = challenge && (await acceptCode(tx, challenge.id, text(form, 'code'), templates));
    return proven && typeof proven === 'object' ? then(tx, proven) : null;
  });
}

const emailCode: Step = async (site, turn, form) => {
  const userId = await byCode(site, turn, form, ['sign_in', 'sign_up'], proveAddress);
  if (userId !== null) return passFirstFactor(site, turn, { userId, amr: ['email'] });
  await recordSignIn(site, turn, null);
  site.render(turn, 422, codePage(turn, askedBy(form), { error: WRONG }));
};

/** The browser's own sign-in has just ended with all the others. */
async function forgetSession({ interaction }: Turn, userId: string): Promise<void> {
  if (interaction.session?.accountId !== userId) return;
  interaction.session = undefined;
  await interaction.persist();
}

const newPassword: Step = async (site, turn, form) => {
  const password = form.get('password') ?? '';
  const asked: Asked = { way: 'recovery', email: text(form, 'email') };
  const refuse = (error: FieldError, code = ''): void => site.render(turn, 422, recoveryCodePage(turn, asked, { error, code }));
  const fault = await passwordFault(site.store.host, password);
  if (fault) return refuse({ field: 'password', message: fault }, text(form, 'code').slice(0, 16));
  const hash = await hashPassword(password);
  const userId = await byCode(site, turn, form, ['recovery'], (tx, proven) => recover(tx, proven, hash));
  if (userId === null) return refuse(WRONG);
  await forgetSession(turn, userId);
  await passFirstFactor(site, turn, { userId, amr: ['email'] });
};

async function signUpFault(site: Site, email: string, displayName: string, password: string): Promise<FieldError | null> {
  if (!EMAIL.test(email)) return NO_ADDRESS;
  if (!ONE_LINE.test(displayName)) return { field: 'display_name', message: 'Use 1 to 60 ordinary characters.' };
  const fault = await passwordFault(site.store.host, password, [email, ...email.split('@'), displayName]);
  return fault === null ? null : { field: 'password', message: fault };
}

/** The sign-up that this browser has asked for, once more. */
async function signUpAgain(site: Site, turn: Turn, email: string): Promise<void> {
  const request = requestOf(site, turn, email);
  await site.store.host.transaction(tx => mailSignUpAgain(tx, request));
  site.render(turn, 200, codePage(turn, { way: 'sign-up', email }, { again: true }));
}

/** The password is hashed whether or not there is such an account, so that it takes as long. Source: identity 7, rule 6. */
const signUp: Step = async (site, turn, form) => {
  const [email, displayName, password] = [text(form, 'email'), text(form, 'display_name'), form.get('password') ?? ''];
  if (isAgain(form)) return signUpAgain(site, turn, email);
  const fault = await signUpFault(site, email, displayName, password);
  if (fault) return site.render(turn, 422, signUpPage(turn, { email, displayName }, fault));
  const wanted = {
    ...requestOf(site, turn, email),
    displayName,
    passwordHash: await hashPassword(password),
    locale: localeOf(turn.interaction.params.ui_locales),
    brandId: turn.app.brandId,
  };
  const ask = () => site.store.host.transaction(tx => mailSignUp(tx, wanted));
  await ask().catch(error => {
    if (!(error instanceof Problem) || error.code !== 'conflict') throw error;
    return ask(); // somebody else has just taken the address: it is found now
  });
  site.render(turn, 200, codePage(turn, { way: 'sign-up', email }));
};

/** Forms of people who do not sign in by password, by the last part of their address. */
export const MAIL_STEPS: Readonly<Record<string, Step>> = {
  'magic-link': magicLink,
  'email-code': emailCode,
  'sign-up': signUp,
  recovery,
  'new-password': newPassword,
};

/** Their pages that can be opened; null: there is none of this name. */
export function mailPage(turn: Turn, step: string): Page | null {
  if (step === 'magic-link') return linkRequestPage(turn);
  if (step === 'recovery') return recoveryRequestPage(turn);
  if (step === 'sign-up') return signUpPage(turn, { email: '', displayName: '' });
  return null;
}
