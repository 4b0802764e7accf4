/** What other registers know of a published study, brought to the form of a research paper. Source: content 4.2. */
import { Parser } from 'htmlparser2';

export interface Citation {
  title: string;
  authors: string[];
  journal: string | null;
  /** Civil date; the first day of a month or year of which no more is known. */
  publishedOn: string | null;
  /** Lower case. */
  doi: string | null;
  pmid: string | null;
  url: string | null;
  abstract: string | null;
  studyType: string | null;
  retracted: boolean;
  retractionNotice: string | null;
}

const DOI = /^10\.\d{4,9}\/\S{1,190}$/;
const PMID = /^\d{1,12}$/;

/** `10.1000/xyz` of `https://doi.org/10.1000/XYZ`, `doi:10.1000/xyz` or the bare name; null for none. */
export function doiIn(text: string): string | null {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^(https?:\/\/(dx\.)?doi\.org\/|doi:\s*)/, '');
  return DOI.test(bare) ? bare : null;
}

export const pmidIn = (text: string): string | null => {
  const bare = text.trim().replace(/^pmid:\s*/i, '');
  return PMID.test(bare) ? bare : null;
};

/** Elements that part no words, in HTML and in JATS. */
const INLINE = /^(jats:)?(i|b|u|em|strong|sub|sup|sc|scp|italic|bold|underline|span)$/;

/** Words of a piece of markup, of at most so many characters; null for none. */
export function wordsOf(markup: string | null | undefined, length: number): string | null {
  let text = '';
  const parser = new Parser({
    ontext: part => void (text += part),
    onclosetag: name => void (text += INLINE.test(name) ? '' : ' '),
  });
  parser.end(markup ?? '');
  const words = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return words === '' ? null : [...words].slice(0, length).join('');
}

/** `2019-03-01` of year, month, day, as many as are known; null for none and for what is no date. */
export function civilDate([year, month = 1, day = 1]: readonly (number | null | undefined)[]): string | null {
  if (year == null) return null;
  const at = new Date(Date.UTC(year, (month ?? 1) - 1, day ?? 1));
  const isDate = !Number.isNaN(at.getTime()) && at.getUTCMonth() === (month ?? 1) - 1 && year >= 1600 && year <= 9999;
  return isDate ? at.toISOString().slice(0, 10) : null;
}

const WAIT_SECONDS = 60;
const LONGEST_SECONDS = 3_600;

/** Seconds that a `Retry-After` asks for: a number or an HTTP date; a minute where it says nothing, an hour at most. Source: RFC 9110, 10.2.3. */
export function waitOf(header: string | null, now: number): number {
  const seconds = header === null ? NaN : /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1_000;
  return Number.isNaN(seconds) ? WAIT_SECONDS : Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil(seconds)));
}
