import type { Violation } from '../../../runtime/request/errors.js';
import type { ChallengeTemplate } from './challenges.js';
import { EMAIL } from './emails.js';

/** What each kind of e-mail is to us. Source: identity 4.8. */
export const AUTH_EMAIL_TEMPLATES = {
  magic_link: 'sign_in',
  signup: 'sign_up',
  invite: 'sign_up',
  recovery: 'recovery',
  email_change: 'email_change',
  otp: 'second_factor',
  reauthentication: 'reauthenticate',
} as const satisfies Record<string, ChallengeTemplate>;

export type AuthEmailType = keyof typeof AUTH_EMAIL_TEMPLATES;

/** Kinds that may come before the account. */
export const MAKES_ACCOUNT: readonly AuthEmailType[] = ['signup', 'invite'];

/** What an outside identity provider asks to be sent. Token and hash are the provider's own. */
export interface AuthEmail {
  type: AuthEmailType;
  userId: string;
  email: string;
  token: string | null;
  tokenHash: string | null;
  redirectTo: string | null;
  /** Seconds. */
  expiresIn: number | null;
  locale: string | null;
}

const LOCALE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/;
const DAY = 86_400;

type Body = Readonly<Record<string, unknown>>;

const asBody = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {});
const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length > 0 && value.length <= max;
const orNull = (value: unknown): string | null => (isText(value, 2048) ? value : null);
const absent = (value: unknown): boolean => value === undefined || value === null;
const isUrl = (value: unknown): boolean => isText(value, 2048) && URL.canParse(value);
const isLifetime = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 60 && (value as number) <= DAY;

function violations(body: Body, user: Body): Violation[] {
  const { type, token, token_hash: hash, redirect_to: redirect, expires_in: seconds } = body;
  const faults: [boolean, string, string][] = [
    [
      typeof type !== 'string' || !Object.hasOwn(AUTH_EMAIL_TEMPLATES, type),
      '/type',
      `must be one of ${Object.keys(AUTH_EMAIL_TEMPLATES).join(', ')}`,
    ],
    [!isText(user.id, 128), '/user/id', 'must be 1 to 128 characters'],
    [!isText(user.email, 254) || !EMAIL.test(user.email), '/user/email', 'must be an e-mail address'],
    [absent(token) && (absent(hash) || absent(redirect)), '/token', 'is required without token_hash and redirect_to'],
    [!absent(token) && !isText(token, 32), '/token', 'must be at most 32 characters'],
    [!absent(hash) && !isText(hash, 256), '/token_hash', 'must be at most 256 characters'],
    [!absent(redirect) && !isUrl(redirect), '/redirect_to', 'must be a URL'],
    [!absent(seconds) && !isLifetime(seconds), '/expires_in', `must be from 60 to ${DAY} seconds`],
  ];
  return faults.filter(([wrong]) => wrong).map(([, pointer, message]) => ({ pointer, message }));
}

/** A neutral body, or everything that is wrong with it. */
export function readAuthEmail(value: unknown): AuthEmail | Violation[] {
  const body = asBody(value);
  const user = asBody(body.user);
  const faults = violations(body, user);
  if (faults.length) return faults;
  return {
    type: body.type as AuthEmailType,
    userId: user.id as string,
    email: user.email as string,
    token: orNull(body.token),
    tokenHash: orNull(body.token_hash),
    redirectTo: orNull(body.redirect_to),
    expiresIn: (body.expires_in as number | undefined) ?? null,
    locale: isText(body.locale, 35) && LOCALE.test(body.locale) ? body.locale : null,
  };
}

/** Where the provider finishes what its mail began: its own token, at the app that asked; null where no app is named. */
export function onwardUrl({ redirectTo, tokenHash, type }: AuthEmail): string | null {
  if (redirectTo === null) return null;
  const url = new URL(redirectTo);
  if (tokenHash !== null) url.searchParams.set('token_hash', tokenHash);
  url.searchParams.set('type', type);
  return url.href;
}
