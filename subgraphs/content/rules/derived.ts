/** What follows from an item's own values, and what its collection asks of them beyond single fields. Source: content 2.2, 4.4, rule 14. */
import { randomInt } from 'node:crypto';
import type { Violation } from '../../../runtime/request/errors.js';
import type { ContentCollection } from '../entities/enums.js';
import type { Values } from './values.js';

interface CoaResult {
  test?: string;
  resultValue?: number;
  verdict?: string;
}

const resultsOf = (values: Values): CoaResult[] => (values.results as CoaResult[] | undefined) ?? [];
const purityOf = (values: Values): number | undefined => resultsOf(values).find(({ test }) => test === 'PURITY')?.resultValue;

/** Without letters and digits that look alike. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `7QF2-M9KD-X3TA`. */
export function newVerificationCode(): string {
  const letters = Array.from({ length: 12 }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]!);
  return [0, 4, 8].map(from => letters.slice(from, from + 4).join('')).join('-');
}

function coa(values: Values): Values {
  const results = resultsOf(values);
  const purity = purityOf(values);
  const { verdict: _verdict, identityConfirmed: _identity, ...rest } = values;
  return {
    ...rest,
    verificationCode: values.verificationCode ?? newVerificationCode(),
    ...(results.length > 0 && {
      verdict: results.some(({ verdict }) => verdict === 'FAIL') ? 'FAIL' : 'PASS',
      identityConfirmed: results.some(({ test, verdict }) => test === 'IDENTITY' && verdict === 'PASS'),
    }),
    ...(purity !== undefined && values.purityPercent === undefined && { purityPercent: purity }),
  };
}

const DERIVE: Readonly<Partial<Record<ContentCollection, (shared: Values) => Values>>> = {
  COAS: coa,
  TESTIMONIALS: shared => ({ ...shared, moderation: shared.moderation ?? 'PENDING', verifiedPurchase: shared.verifiedPurchase ?? false }),
  RESEARCH_PAPERS: shared => ({ ...shared, retracted: shared.retracted ?? false }),
};

/** Shared values with those that follow from them. */
export const derived = (collection: ContentCollection, shared: Values): Values => DERIVE[collection]?.(shared) ?? shared;

export const hasCheckDigit = (cas: string): boolean => {
  const digits = cas.replaceAll('-', '');
  const sum = digits
    .slice(0, -1)
    .split('')
    .reverse()
    .reduce((total, digit, index) => total + Number(digit) * (index + 1), 0);
  return sum % 10 === Number(digits.at(-1));
};

type Fault = readonly [name: string, message: string];
/** @param today civil date */
type Rule = (values: Values, today: string) => readonly (Fault | false)[];

const after = (later: unknown, earlier: unknown): boolean => typeof later === 'string' && typeof earlier === 'string' && later < earlier;

const RULES: Readonly<Partial<Record<ContentCollection, Rule>>> = {
  COAS: (values, today) => {
    const purity = purityOf(values);
    return [
      after(values.issuedOn, values.testedOn) && ['issuedOn', 'must not be before tested_on'],
      typeof values.issuedOn === 'string' && values.issuedOn > today && ['issuedOn', 'must not be in the future'],
      after(values.expiresOn, values.issuedOn) && ['expiresOn', 'must not be before issued_on'],
      after(values.testedOn, values.sampleReceivedOn) && ['testedOn', 'must not be before sample_received_on'],
      purity !== undefined &&
        values.purityPercent !== undefined &&
        purity !== values.purityPercent && ['purityPercent', 'must equal the result of the purity test'],
      purity === undefined && values.purityPercent !== undefined && ['purityPercent', 'needs a result of a purity test'],
    ];
  },
  PEPTIDES: values => [
    typeof values.casNumber === 'string' && !hasCheckDigit(values.casNumber) && ['casNumber', 'has a wrong check digit'],
  ],
  TESTIMONIALS: values => {
    const consent = values.consent as { withdrawnAt?: string } | undefined;
    return [
      consent?.withdrawnAt !== undefined && ['consent', 'is withdrawn'],
      values.moderation !== 'APPROVED' && ['moderation', 'must be approved'],
    ];
  },
  RESEARCH_PAPERS: values => [
    values.retracted === true && !values.retractionNotice && ['retractionNotice', 'required of a retracted paper'],
  ],
  MEDIA: values => [values.kind === 'IMAGE' && !values.alt && ['alt', 'required of a picture']],
};

/** What stands in the way of publishing these values, beyond what is missing. */
export const faultsOf = (collection: ContentCollection, values: Values, today: string, pointer: string): Violation[] =>
  (RULES[collection]?.(values, today) ?? [])
    .filter(one => one !== false)
    .map(([name, message]) => ({ pointer: `${pointer}/${name}`, message }));

/** A certificate that may be shown as the current one of its lot. Source: content, rule 11. */
export const isCurrentCoa = (values: Values, today: string): boolean =>
  values.verdict === 'PASS' && !values.supersededBy && !(typeof values.expiresOn === 'string' && values.expiresOn < today);
