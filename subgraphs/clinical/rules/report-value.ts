import { BiomarkerObservationComparator as Comparator } from '../entities/result.js';
import type { ValueRange } from '../entities/units.js';
import { amountOf, type Notation, NUMBER } from './report-number.js';
import { DATE } from './report-other.js';
import { isUnit, unitOf } from './report-unit.js';

/** In lower case, each letter in its place. */
export const lowered = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]/g, letter => letter.toLowerCase());
};

const COMPARATORS: Readonly<Record<string, Comparator>> = {
  '<': Comparator.LT,
  '≤': Comparator.LE,
  '>': Comparator.GT,
  '≥': Comparator.GE,
};

/** Patterns are matched with texts in lower case: without regard to case they compile to many times the code. */
const MARKS = String.raw`hh|ll|h|l|high|low|abnormal|critical|\*{1,3}|!{1,3}|[↑↓▲▼]+`;
const FLAG = String.raw`[(\[]?(?:${MARKS}|aa|hi|lo|a|n|normal|crit|panic|alert|final|\+{1,4})[)\]]?(?![\w%/-])`;
/** The marks that may stand before a value; letters that end names (vitamin A) are not among them. */
const FLAG_BEFORE = String.raw`[(\[]?(?:${MARKS})[)\]]?`;
const LABEL = String.raw`[(\[]?(?:reference|ref|normal|expected|target|optimal|desirable|adults?|males?|females?|men|women|goal|rr|ranges?|interval|therapeutic|referenzbereich|referenz|norm|fasting|[mfw](?=\s?:))\b\.?\s*[:=,]?`;
const DASH = String.raw`\s?(?:-|–|—|to|bis|\.\.)\s?`;
const RANGE = String.raw`[(\[]?\s?(?:(?<low>${NUMBER})${DASH}(?<high>${NUMBER})|(?<edge>[<>≤≥]|up to|bis)\s?(?<limit>${NUMBER}))(?![\w.,]*\d)`;
const NO_RANGE = String.raw`(?:not estab(?:lished)?\.?|none (?:detected|estab\w*\.?)|n\/a|not applicable|negative|see (?:note|comment|below))(?!\w)`;
/** Remarks, and what closes a range. */
const REMARK = String.raw`(?:\((?:[^()\d<>≤≥]{1,40})\)|\[[^\]\d<>≤≥]{1,40}\]|calc(?:ulated|\.)?(?!\w)|[;,|)\]])`;
/** What a unit is of: `% of total Hgb`, `mmol/mol Hb`, `% by wt`. */
const WHOLE = String.raw`(?:total(?: protein| cholesterol| fatty acids?| cells)?|protein|lymphocytes|leu[ck]ocytes|wbc|rbc)`;
const HAEMOGLOBIN = String.raw`(?:total )?(?:h(?:ae|e|ä)moglobin|hgb|hb)`;
const QUALIFIER = String.raw`(?:(?:of )?${HAEMOGLOBIN}|of ${WHOLE}|by (?:wt|weight|vol|volume))\b\.?`;
const PERFORMED = /^(?:0\d|[A-Z]{2,3})$/;

const sticky = (pattern: string): RegExp => new RegExp(String.raw`\s*${pattern}`, 'y');
const BEHIND = [DATE, RANGE, LABEL, FLAG, NO_RANGE, REMARK, QUALIFIER].map(sticky);
const WORD_BEHIND = /\s*[([]?([^\s()<>≤≥=;:,]+)/y;

/** @param groups of a range. */
const rangeOf = ({ low, high, edge, limit }: Record<string, string | undefined>, notation: Notation): ValueRange => {
  if (low !== undefined) return { low: amountOf(low, notation).value, high: amountOf(high!, notation).value };
  const { value } = amountOf(limit!, notation);
  return '>≥'.includes(edge!) ? { low: value, high: null } : { low: null, high: value };
};
const isRange = (groups: Record<string, string | undefined> | undefined): boolean =>
  groups !== undefined && (groups.low !== undefined || groups.limit !== undefined);

/** What was found behind or before a value. */
interface Found {
  units: string[];
  ranges: ValueRange[];
}

/** A word without the bracket that only closes what is around it. */
const unbracketed = (word: string): string => (word.includes('[') ? word : word.replace(/\]$/, ''));

/** Where a unit that begins at a place ends; null for none there. */
function unitAt(text: string, at: number, found: Found): number | null {
  WORD_BEHIND.lastIndex = at;
  const match = WORD_BEHIND.exec(text);
  const word = match && unbracketed(match[1]!);
  if (!word || !isUnit(word)) return null;
  found.units.push(unitOf(word));
  return at + match[0].length - (match[1]!.length - word.length);
}

/** Where anything else that may stand behind a value ends; null for nothing of it there. @param lower the text in lower case. */
function otherAt(lower: string, at: number, notation: Notation, found: Found): number | null {
  for (const pattern of BEHIND) {
    pattern.lastIndex = at;
    const match = pattern.exec(lower);
    if (!match?.[0]) continue;
    if (isRange(match.groups)) found.ranges.push(rangeOf(match.groups!, notation));
    return at + match[0].length;
  }
  return null;
}

/** Takes off the beginning of a text whatever may stand behind a value. @returns what is left. */
function takeBehind(text: string, notation: Notation, found: Found): string {
  const lower = lowered(text);
  let at = 0;
  for (let next: number | null = 0; next !== null; next = unitAt(text, at, found) ?? otherAt(lower, at, notation, found)) at = next;
  return text.slice(at).trim();
}

/** What may stand between a name and its value, from the value backwards. */
const BEFORE = [
  /[\s:=.…_,;-]+$/,
  new RegExp(String.raw`\s${FLAG_BEFORE}$`),
  new RegExp(String.raw`(?<=\s)${RANGE}[)\]]?$`),
  new RegExp(String.raw`\s${DATE}$`),
];
const UNIT_BEFORE = /[([]([^\s()]+)[)\]]$|(?<=[\s,])(\S*[/%]\S*)$/;

/** Where a unit that ends a text begins; null for none. */
function unitBefore(text: string, found: Found): number | null {
  const match = UNIT_BEFORE.exec(text);
  const word = match?.[1] ?? match?.[2];
  if (!match || !word || !isUnit(word)) return null;
  found.units.push(unitOf(word));
  return match.index;
}

/** Where anything else that may stand before a value begins; null for nothing of it, and for a name such as CA 19-9. */
function otherBefore(text: string, notation: Notation, found: Found): number | null {
  const lower = lowered(text);
  const match = BEFORE.map(pattern => pattern.exec(lower)).find(Boolean);
  if (!match) return null;
  if (isRange(match.groups)) {
    const range = rangeOf(match.groups!, notation);
    if (range.low !== null && range.high !== null && range.low >= range.high) return null;
    found.ranges.push(range);
  }
  return match.index;
}

/** Takes off the end of a name whatever is not of it: leaders, marks, a unit, a range to the left. @returns the name. */
function takeBefore(text: string, notation: Notation, found: Found): string {
  let name = text;
  for (let end: number | null = name.length; end !== null; end = unitBefore(name, found) ?? otherBefore(name, notation, found))
    name = name.slice(0, end);
  return name.trim();
}

/** Numbers, points of lists and codes of the laboratory before a name. */
const LEADING = /^(?:[*•·▪►>-]+\s*|\d{1,2}[.)]\s+(?=[A-Za-z])|\d{5,6}\s+(?=[A-Za-z])|\[[a-z\d]\]\s*)+/i;
const FOOTNOTE = /\s*(?:\((?:\d|[b-z])\)|\[(?:\d|[a-z])\]|\*+|[†‡§])\s*$/;
export const nameOf = (text: string): string => text.replace(LEADING, '').replace(FOOTNOTE, '').trim();

const VALUE = new RegExp(
  String.raw`(?<=^|[\s:=(|])(?<!\d:|\d${DASH})(?<comparator>[<>≤≥])?\s?(?<value>${NUMBER})(?=$|[\s)\];,*!↑↓%]|[a-zµμ]+\/|(?:hh|ll|h|l)(?!\w))(?!${DASH}\d)(?![,.]\d)`,
  'g',
);
const DAY = /^\d{1,2}\.\d{1,2}\.\d{2,4}$/;

/** One way to read a line: which number is the value, and what stands around it. */
export interface Reading {
  name: string;
  value: number | null;
  unit: string | null;
  comparator: Comparator | null;
  range: ValueRange | null;
  /** Everything is understood. */
  isSure: boolean;
  /** What stands behind and is not understood. */
  rest: string;
}

const same = (all: readonly string[]): boolean => new Set(all).size <= 1;

function readingAt(text: string, match: RegExpMatchArray, notation: Notation): Reading {
  const found: Found = { units: [], ranges: [] };
  const rest = takeBehind(text.slice(match.index! + match[0].length).replace(/^\)/, ''), notation, found);
  const left = text.slice(0, match.index);
  const before = takeBefore(left, notation, found);
  const { comparator, value } = match.groups!;
  const amount = amountOf(value!, notation);
  const isPerformed = found.ranges.length > 0 && PERFORMED.test(rest);
  return {
    name: nameOf(before),
    value: amount.value,
    unit: found.units[0] ?? null,
    comparator: comparator ? COMPARATORS[comparator]! : null,
    range: found.ranges.length === 1 ? found.ranges[0]! : null,
    isSure: amount.isSure && same(found.units) && !/[<>≤≥]\s*\d/.test(left),
    rest: isPerformed ? '' : rest,
  };
}

const hasName = (one: { name: string }): boolean => /\p{L}/u.test(one.name);
export const hasScale = (one: { unit: string | null; range: ValueRange | null }): boolean => one.unit !== null || one.range !== null;

/** A value in its unit: an edge of a range behind it (`<5.7`) is never the value, whatever stands between. */
const isMeasured = (one: Reading): boolean => hasName(one) && one.unit !== null;

/** The readings of a line, one per result; each number that may be the value is tried, from the left. */
export function readings(text: string, notation: Notation): Reading[] {
  const values = [...lowered(text).matchAll(VALUE)].filter(match => !DAY.test(match.groups!.value!));
  const all = values.map(match => readingAt(text, match, notation));
  const whole = all.find(one => hasName(one) && one.rest === '');
  for (const one of all.filter(each => hasName(each) && hasScale(each))) {
    if (one === whole) break;
    const beside = /^\p{L}/u.test(one.rest) ? readings(one.rest, notation) : [];
    if (beside.length > 0 && beside.every(each => each.isSure && hasScale(each))) return [{ ...one, rest: '' }, ...beside];
  }
  const before = whole?.comparator ? all.slice(0, all.indexOf(whole)) : [];
  const chosen = before.find(isMeasured) ?? whole ?? all.find(hasName);
  return chosen ? [{ ...chosen, isSure: chosen.isSure && chosen.rest === '' }] : [];
}

/** The name and range of a line that has nothing else; null for any other. */
export function rangeAlone(text: string, notation: Notation): { name: string; range: ValueRange } | null {
  const found: Found = { units: [], ranges: [] };
  const name = nameOf(takeBefore(text, notation, found));
  return found.ranges.length === 1 && hasName({ name }) ? { name, range: found.ranges[0]! } : null;
}
