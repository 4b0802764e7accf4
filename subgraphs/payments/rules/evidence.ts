const MAX_TEXTS = 30;
const MAX_TEXT = 20_000;
const MAX_ALL = 150_000;
const NAME = /^[a-z][a-z_]{0,63}$/;
/** 13 to 19 digits, spaces and dashes between them: what a card number looks like. */
const DIGITS = /\d(?:[ -]?\d){11,18}/g;

/** Check digit of card numbers. Source: ISO/IEC 7812-1, annex B. */
export function passesLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

const holdsCard = (text: string): boolean => (text.match(DIGITS) ?? []).some(found => passesLuhn(found.replace(/[ -]/g, '')));

/** What is wrong with the evidence of a dispute; null for nothing. Source: payments 7.16. */
export function evidenceFault(evidence: Readonly<Record<string, unknown>>): string | null {
  const texts = Object.entries(evidence);
  if (texts.length === 0 || texts.length > MAX_TEXTS) return `must have 1 to ${MAX_TEXTS} texts`;
  if (texts.some(([name, text]) => !NAME.test(name) || typeof text !== 'string' || text.length === 0 || text.length > MAX_TEXT))
    return `must have texts of at most ${MAX_TEXT} characters by lower-case names`;
  if (texts.reduce((sum, [, text]) => sum + (text as string).length, 0) > MAX_ALL) return `must have at most ${MAX_ALL} characters`;
  return texts.some(([, text]) => holdsCard(text as string)) ? 'must not hold a card number' : null;
}
