/** Signatures that a partner may use. Source: identity 4.7. */
export const SSO_ALGORITHMS: readonly string[] = ['ES256', 'RS256', 'PS256', 'EdDSA'];

/** Longest life of an assertion, and how far two clocks may differ, s. */
const MAX_LIFE = 300;
const LEEWAY = 5;

/** A partner's claims about a person, as they came. */
export type Claims = Readonly<Record<string, unknown>>;

/** An assertion whose claims are in order. */
export interface Assertion {
  sub: string;
  jti: string;
  /** Epoch seconds. */
  exp: number;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
  amr: readonly string[];
}

const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value.length > 0 && value.length <= most;
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

/** The first claim that is not in order, null for none. Times in epoch seconds. */
export function failingClaim(claims: Claims, { issuer, audience, now }: { issuer: string; audience: string; now: number }): string | null {
  const { iss, aud, sub, iat, exp, nbf, jti, email, email_verified: verified, name, amr } = claims;
  const checks: readonly (readonly [claim: string, right: boolean])[] = [
    ['iss', iss === issuer],
    ['aud', aud === audience || (Array.isArray(aud) && aud.length === 1 && aud[0] === audience)],
    ['iat', isTime(iat) && iat <= now + LEEWAY],
    ['exp', isTime(exp) && exp > now - LEEWAY && isTime(iat) && exp > iat && exp - iat <= MAX_LIFE],
    ['nbf', nbf === undefined || (isTime(nbf) && nbf <= now + LEEWAY)],
    ['sub', isText(sub, 255)],
    ['jti', isText(jti, 255)],
    ['email', email === undefined || (isText(email, 254) && EMAIL.test(email))],
    ['email_verified', verified === undefined || typeof verified === 'boolean'],
    ['name', name === undefined || typeof name === 'string'],
    ['amr', amr === undefined || (Array.isArray(amr) && amr.every(one => typeof one === 'string'))],
  ];
  return checks.find(([, right]) => !right)?.[0] ?? null;
}

/** Claims that are in order. */
export const assertionOf = (claims: Claims): Assertion => ({
  sub: claims.sub as string,
  jti: claims.jti as string,
  exp: claims.exp as number,
  email: (claims.email as string | undefined) ?? null,
  emailVerified: claims.email_verified === true,
  name: shownName(claims.name as string | undefined),
  amr: (claims.amr as string[] | undefined) ?? [],
});

/** One line of at most 60 characters, as profiles have it; null where nothing of a name is left. */
const shownName = (name: string | undefined): string | null =>
  [...(name ?? '').replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').trim()].slice(0, 60).join('') || null;

export type Linking = 'known' | 'link' | 'create' | 'refuse';

/**
 * What becomes of a partner's subject. `known`: it is linked already; `refuse`: an account with the address is there, and the partner's
 * claim is not enough to hand it over. Source: identity 4.7.
 */
export function linking(
  state: { known: boolean; account: { emailVerified: boolean } | null },
  partner: { trustedEmail: boolean },
  { emailVerified }: Pick<Assertion, 'emailVerified'>,
): Linking {
  if (state.known) return 'known';
  if (!state.account) return 'create';
  return partner.trustedEmail && emailVerified && state.account.emailVerified ? 'link' : 'refuse';
}

/** Methods of a sign-in by a partner; its second factor counts only where we trust it to ask for one. */
export const methodsOf = ({ trustedMfa }: { trustedMfa: boolean }, { amr }: Pick<Assertion, 'amr'>): string[] =>
  trustedMfa && amr.includes('mfa') ? ['ext', 'mfa'] : ['ext'];
