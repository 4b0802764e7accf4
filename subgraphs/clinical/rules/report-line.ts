import { type Notation, notationOf } from './report-number.js';
import { datesIn, isFrame, isLegend, isSentence, withoutDates } from './report-other.js';
import { isUnit, withUnitsWhole } from './report-unit.js';
import { hasScale, lowered, nameOf, rangeAlone, type Reading, readings } from './report-value.js';

/** A line of a page, with its position. */
export interface Line {
  page: number;
  box: number[] | null;
  text: string;
  /** How sure a recognition is, 0..1; nothing for a text that was not recognised. */
  confidence?: number;
}

/** A result as a line writes it. */
export interface LineResult extends Omit<Reading, 'rest'> {
  rawText: string;
  /** Days that stand in the line; none of them is known to be the draw's. */
  dates: string[];
}

const WORDED =
  /^(?<name>[^\d\W].*?)[\s:=.…]+(?:negative|positive|(?:non|not)?[ -]?reactive|(?:not |none )?detected|none seen|trace|absent|present|indeterminate|equivocal|pending|tnp|qns|not (?:performed|reported|done|calculated)|cancel+ed|see (?:note|comment|below)|ha?emoly[sz]ed|insufficient|\+{1,4})(?![\w-]).{0,40}$/;
/** A number of its own, in whatever form: `120/80`, `1:160`. */
const FIGURE = /(?<=\p{L}.*)\s[<>≤≥(]?\d[\d.,:/-]*(?=[)\s]|$)/u;

/** Whether a number stands before a unit. */
const isMeasured = (text: string): boolean => [...text.matchAll(/\d\s?([^\s\d()<>≤≥=;:,]\S*)/g)].some(match => isUnit(match[1]!));

/** A line that could be a result and gives no number that can be relied on: its name, for a person. */
function unreadable(text: string, notation: Notation): Reading[] {
  const nothing = { value: null, unit: null, comparator: null, range: null, isSure: false, rest: '' };
  const ranged = rangeAlone(text, notation);
  if (ranged) return [{ ...nothing, ...ranged }];
  const worded = WORDED.exec(lowered(text))?.groups;
  if (worded) return [{ ...nothing, name: nameOf(text.slice(0, worded.name!.length)) }];
  return FIGURE.test(text) || isMeasured(text) ? [{ ...nothing, name: nameOf(text.split(FIGURE)[0]!) }] : [];
}

/** Footnotes; not the square of an area. */
const SUPERSCRIPT = /(?<=[\p{L})\d])(?<!\/m|73 ?m)[¹²³⁰⁴-⁹ᵃᵇᶜ]+(?=\s|$)/gu;

/** One spelling for what laboratories write in many ways; the text itself is kept for the person who looks. */
const cleaned = (text: string): string =>
  withUnitsWhole(text)
    .replace(SUPERSCRIPT, '')
    .replace(/[‐‑‒−]/g, '-')
    .replace(/<\s?(?:or\s?)?=|\bless than or equal to\b/gi, '≤')
    .replace(/>\s?(?:or\s?)?=|\bgreater than or equal to\b/gi, '≥')
    .replace(/\bless than\s+(?=\d)/gi, '<')
    .replace(/\b(?:greater|more) than\s+(?=\d)/gi, '>')
    .replace(/(?<=[\p{L})\s])=(?=\s?[<>≤≥]?\d)|(?<=[\p{L})]),(?=[<>≤≥]?\d[\d.]*(?:[,;\s]|$))/gu, ' ')
    .replace(/(?<=\d),(?=[\p{L}%])/gu, ' ')
    .replace(/[|;\t]|[.…_·]{3,}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** A value of a person's own, not one of a rule. */
const MEANT = /\b(?:was|measured|result)\b/i;

/** A reading that stands although its line looks like a header, a sentence or a legend: a value in its unit. */
const stands = (one: Reading): boolean => one.isSure && one.unit !== null && (one.comparator === null || MEANT.test(one.name));

/** What of a line is of the report, a rule or a sentence and not of the person. */
function isOther(text: string, found: readonly Reading[]): boolean {
  const said = found[0]?.unit ? found[0].name : text; // behind a value in its unit anything may be remarked
  return (isFrame(text) || isLegend(text) || isSentence(said)) && !found.some(stands);
}

/** A value without a name, for a person: torn from it, unless it is the number of the page. */
function loneValue({ page }: Line, text: string, notation: Notation): Reading[] {
  const found = readings(`x ${text}`, notation).filter(one => one.name === 'x' && one.rest === '' && text !== String(page));
  return found.map(one => ({ ...one, name: '', isSure: false }));
}

/** No line of a table is longer, characters: what stands behind is not taken apart, and a person looks. */
export const LONGEST = 300;

function readingsOf(line: Line, text: string, notation: Notation): Reading[] {
  const named = readings(text, notation);
  const found = named.length > 0 ? named : loneValue(line, text, notation);
  if (isOther(text, found)) return [];
  return found.length > 0 ? found : unreadable(withoutDates(text).trim(), notation);
}

/** The results of a line; none for a line that could not be one. */
export function readLine(line: Line, notation: Notation = notationOf(withoutDates(line.text))): LineResult[] {
  const isWhole = line.text.length <= LONGEST;
  const text = cleaned(line.text.slice(0, LONGEST));
  return readingsOf(line, text, notation).map(({ rest: _rest, ...one }) => ({
    ...one,
    isSure: one.isSure && isWhole,
    rawText: line.text.slice(0, 4000),
    dates: datesIn(text),
  }));
}

/** A name alone in its line, whose value may stand in the next. */
const isNameAlone = (line: Line, notation: Notation): boolean =>
  /\p{L}{2}/u.test(line.text) &&
  line.text.split(/\s+/).length <= 8 &&
  readLine(line, notation).length === 0 &&
  !isOther(cleaned(line.text), []);

/** A value with its unit or range and without a name. */
const isValueAlone = (line: Line, notation: Notation): boolean => {
  const text = cleaned(line.text);
  return readings(text, notation).length === 0 && loneValue(line, text, notation).some(hasScale);
};

/** A line that is joined of two is as sure as a guess at the layout: a person looks. */
const JOINED = 0.8;

/** The lines of a report, a value that stands below its name beside it. */
export function joined(lines: readonly Line[], notation: Notation): Line[] {
  const whole: Line[] = [];
  for (const line of lines) {
    const before = whole.at(-1);
    const fits = before?.page === line.page && isValueAlone(line, notation) && isNameAlone(before, notation);
    if (fits)
      whole[whole.length - 1] = { ...before, text: `${before.text} ${line.text}`, confidence: Math.min(before.confidence ?? 1, JOINED) };
    else whole.push(line);
  }
  return whole;
}
