/** How a report writes its decimals; unknown where it has none, or both ways. */
export type Notation = 'point' | 'comma' | 'unknown';

/** Apostrophes and narrow spaces separate thousands and nothing else. */
const NARROW = String.raw`'’\u2009\u202f`;

/** A number as laboratories write it: with a decimal point or comma, with separated thousands, without its zero (`.5`). */
export const NUMBER = String.raw`(?:\d+(?:[.,${NARROW}]\d+)*|[.,]\d+)`;

/** What a number stands for; not sure where its only separator may be of thousands or of decimals. */
interface Amount {
  value: number;
  isSure: boolean;
}

const plainNumber = (whole: string, fraction: string): number => Number(`${whole.replace(/[.,]/g, '')}.${fraction || '0'}`);

/** A separator that stands once before three digits (`1,234`): of thousands or of decimals by the rest of the report. */
function ambiguous(digits: string, notation: Notation): Amount {
  const [whole, fraction] = digits.split(/[.,]/) as [string, string];
  const isDecimal = digits.includes(',') ? notation === 'comma' : notation !== 'comma';
  return {
    value: isDecimal ? plainNumber(whole, fraction) : Number(whole + fraction),
    isSure: digits.includes('.') || notation !== 'unknown',
  };
}

/** @param text of {@link NUMBER}. */
export function amountOf(text: string, notation: Notation): Amount {
  const digits = text.replace(new RegExp(`[${NARROW}]`, 'g'), '');
  const separators = digits.replace(/\d/g, '');
  if (separators.length === 1 && /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)) return ambiguous(digits, notation);
  if (separators.length > 1 && new Set(separators).size === 1)
    return { value: Number(digits.replace(/[.,]/g, '')), isSure: /^\d{1,3}(?:[.,]\d{3})+$/.test(digits) };
  const at = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  return { value: at < 0 ? Number(digits) : plainNumber(digits.slice(0, at), digits.slice(at + 1)), isSure: true };
}

const DECIMALS = /(?<![\d.,])(?:\d{1,3}(?:[.,]\d{3})+|\d+)([.,])(?:\d{1,2}|\d{4,6})(?![\d.,]*\d|-?[A-Za-z])/g;
const GROUPS = /(?<![\d.,])[1-9]\d{0,2}([.,])\d{3}\1\d{3}(?!\d)/g;

/** What the numbers of a text that leave no choice say. @param text without dates. */
export function notationOf(text: string): Notation {
  const signs = new Set([
    ...[...text.matchAll(DECIMALS)].map(match => match[1]!),
    ...[...text.matchAll(GROUPS)].map(match => (match[1] === ',' ? '.' : ',')),
  ]);
  if (signs.size !== 1) return 'unknown';
  return signs.has('.') ? 'point' : 'comma';
}
