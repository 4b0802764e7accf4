import { Secret, TOTP } from 'otpauth';
import { MfaMethodKind } from '../entities/mfa.js';

/** What each way of proving who one is adds to `amr`. Source: identity A2, 4.1. */
export const SECOND_FACTORS = {
  totp: ['otp', 'mfa'],
  email_otp: ['email', 'mfa'],
  backup_code: ['rcv', 'mfa'],
} as const satisfies Record<string, readonly string[]>;

export type SecondFactorName = keyof typeof SECOND_FACTORS;

export const isSecondFactor = (text: string): text is SecondFactorName => Object.hasOwn(SECOND_FACTORS, text);

/** Methods that prove something more after the first factor: a mail does not to whom a mail has let in. */
export const furtherMethods = (kinds: readonly MfaMethodKind[], amr: readonly string[]): MfaMethodKind[] =>
  kinds.filter(kind => kind !== MfaMethodKind.EMAIL_OTP || !amr.includes('email'));

/** Seconds of a time step, and steps either side that are taken. Source: identity 4.14. */
export const STEP_SECONDS = 30;
const WINDOW = 1;
const SECRET_BYTES = 20;

const settings = { algorithm: 'SHA1', digits: 6, period: STEP_SECONDS } as const;

/** A new secret, base32 of 160 bits. */
export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** What authenticator apps read. */
export const totpUri = (secret: string, issuer: string, label: string): string =>
  new TOTP({ ...settings, issuer, label, secret: Secret.fromBase32(secret) }).toString();

/**
 * The time step that a code belongs to, one either side of now; null for none.
 * @param now epoch ms.
 */
export function stepOf(secret: string, code: string, now: number): number | null {
  if (!/^[0-9]{6}$/.test(code)) return null;
  const delta = new TOTP({ ...settings, secret: Secret.fromBase32(secret) }).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / STEP_SECONDS) + delta;
}
