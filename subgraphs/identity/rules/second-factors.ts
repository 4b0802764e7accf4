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
