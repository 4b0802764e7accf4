import type { Violation } from '../../../runtime/request/errors.js';

/** Marks of key material and of well-known credentials. */
const MARKS = [
  /-----BEGIN [A-Z0-9 ]+-----/,
  /\b(sk|rk|pk)_(live|test)_[0-9A-Za-z]{8,}/,
  /\bgh[pousr]_[0-9A-Za-z]{20,}/,
  /\b(AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bxox[abprs]-[0-9A-Za-z-]{10,}/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TOKEN = /^[A-Za-z0-9+/=_-]{32,}$/;
const HEX = /^[0-9a-f]{32,}$/i;

/** Bits per character above which a token of 32 characters is no word: English is about 3.5 here, random base64 above 4.3. */
const HIGH_ENTROPY = 4;

/** Shannon entropy of a text's characters, bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}

/** Random hex has 16 signs only, so 4 bits are its most: a long one is taken for a key from three on. */
const isRandom = (token: string): boolean =>
  TOKEN.test(token) && !UUID.test(token) && entropyOf(token) >= (HEX.test(token) ? 3 : HIGH_ENTROPY);

/** Whether a text looks like a secret: key material, a known credential, or a random token of 32 characters or more. */
export const looksSecret = (text: string): boolean => MARKS.some(mark => mark.test(text)) || text.split(/[\s"',;:]+/).some(isRandom);

const SECRET_REF = /^[A-Za-z0-9_./-]{1,128}$/;

const isReference = (value: object): boolean =>
  Object.keys(value).length === 1 && 'secret_ref' in value && typeof value.secret_ref === 'string' && SECRET_REF.test(value.secret_ref);

const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Where a value looks like a secret; `{"secret_ref": "…"}` is the only form in which one may be named. Source: platform 2, rule 8. */
export function secretViolations(value: unknown, pointer = ''): Violation[] {
  if (typeof value === 'string')
    return looksSecret(value) ? [{ pointer, message: 'looks like a secret; name it by {"secret_ref": "…"}' }] : [];
  if (value === null || typeof value !== 'object' || isReference(value)) return [];
  const inner = Object.entries(value).flatMap(([key, one]) => secretViolations(one, `${pointer}/${escape(key)}`));
  return [
    ...Object.keys(value)
      .filter(() => !Array.isArray(value))
      .flatMap(key => (looksSecret(key) ? [{ pointer, message: 'has a key that looks like a secret' }] : [])),
    ...inner,
  ];
}
