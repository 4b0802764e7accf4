/** What a reader typed -> words, phrases and exclusions. Nothing that can be typed is an error. Source: content 4.4. */
import { codeForms } from './search-words.js';

const MOST_TERMS = 32;

export interface Term {
  /** Words in their order; several are a phrase. */
  text: string;
  isPhrase: boolean;
  /** A code in one word, where the text can be read as one. */
  code: string | null;
}

export interface SearchQuery {
  /** Of each group one term must match. */
  groups: Term[][];
  excluded: Term[];
  /** All words, without operators. */
  words: string[];
}

const TOKEN = /(-?)"([^"]*)"?|(\S+)/g;
const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

interface Token {
  text: string;
  isPhrase: boolean;
  isExcluded: boolean;
}

function tokensOf(q: string): Token[] {
  const tokens = [...q.matchAll(TOKEN)].map(([, minus, phrase, word = '']): Token => {
    if (phrase !== undefined) return { text: phrase.trim(), isPhrase: true, isExcluded: minus === '-' };
    const isExcluded = /^-[\p{L}\p{N}]/u.test(word); // a minus inside a word, or before a sign, is none
    return { text: isExcluded ? word.slice(1) : word, isPhrase: false, isExcluded };
  });
  return tokens.filter(({ text }) => hasWord(text)).slice(0, MOST_TERMS);
}

const codeIn = (text: string): string | null => {
  const [form] = codeForms(text);
  return form !== undefined && text.replace(/[-\s]/g, '').toLowerCase() === form ? form : null;
};

const termOf = ({ text, isPhrase }: Token): Term => ({ text, isPhrase, code: codeIn(text) });

/** `bpc` `157` may be one code in two words. */
function pairs(tokens: readonly Token[]): Term[] {
  return tokens.slice(0, -1).flatMap((token, at) => {
    const next = tokens[at + 1]!;
    const code = token.isPhrase || next.isPhrase || token.isExcluded || next.isExcluded ? null : codeIn(`${token.text} ${next.text}`);
    return code === null ? [] : [{ text: code, isPhrase: false, code }];
  });
}

const isOr = (token: Token | undefined): boolean => token !== undefined && !token.isPhrase && /^(or|oder)$/i.test(token.text);

/** Groups, exclusions and words of a text. */
export function parseQuery(q: string): SearchQuery {
  const tokens = tokensOf(q);
  const groups: Term[][] = [];
  const codes = pairs(tokens);
  tokens.forEach((token, at) => {
    if (token.isExcluded || isOr(token)) return;
    const term = termOf(token);
    const joined = codes.filter(({ code }) =>
      [at - 1, at].some(from => from >= 0 && codeIn(`${tokens[from]?.text} ${tokens[from + 1]?.text}`) === code),
    );
    if (isOr(tokens[at - 1]) && groups.length > 0) groups.at(-1)!.push(term);
    else groups.push([term, ...joined]);
  });
  const shown = tokens.filter(token => !token.isExcluded && !isOr(token));
  return {
    groups,
    excluded: tokens.filter(({ isExcluded }) => isExcluded).map(termOf),
    words: shown.flatMap(({ text }) => text.split(/\s+/).filter(hasWord)),
  };
}

const MARKS = /\p{M}+/gu;
/** As the database folds a text, near enough to find its words again. */
export const folded = (text: string): string => text.normalize('NFKD').replace(MARKS, '').replace(/ß/g, 'ss').toLowerCase();

export interface Piece {
  text: string;
  match: boolean;
}

/** Words that begin alike, up to their endings. */
const isAlike = (word: string, asked: string): boolean => {
  const stem = asked.slice(0, Math.max(3, asked.length - 3));
  return asked.length < 3 ? word === asked : word.startsWith(stem) && Math.abs(word.length - asked.length) <= 4;
};

/** A text in pieces, those that match marked. */
export function highlighted(text: string, words: readonly string[]): Piece[] {
  const asked = words.flatMap(word => folded(word).split(/[^\p{L}\p{N}]+/u)).filter(Boolean);
  const pieces: Piece[] = [];
  for (const [part] of text.matchAll(/[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+/gu)) {
    const match = /[\p{L}\p{N}]/u.test(part) && asked.some(one => isAlike(folded(part), one));
    if (pieces.at(-1)?.match === match) pieces.at(-1)!.text += part;
    else pieces.push({ text: part, match });
  }
  return pieces;
}

const SNIPPET = 220;

/** A part of a text around its first match. */
export function snippetOf(text: string, words: readonly string[]): Piece[] {
  const pieces = highlighted(text, words);
  const before = pieces
    .slice(
      0,
      pieces.findIndex(({ match }) => match),
    )
    .reduce((sum, piece) => sum + piece.text.length, 0);
  const from = before <= SNIPPET / 2 ? 0 : text.lastIndexOf(' ', before - 60) + 1;
  const part = text.slice(from, from + SNIPPET);
  const cut = from + SNIPPET < text.length ? part.slice(0, Math.max(part.lastIndexOf(' '), 1)) : part;
  return highlighted(`${from > 0 ? '…' : ''}${cut}${cut.length < text.length - from ? '…' : ''}`, words);
}

/** Letters in threes, as the database's trigrams. */
const trigrams = (word: string): Set<string> => {
  const padded = `  ${word} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
};

function similarity(a: string, b: string): number {
  const [x, y] = [trigrams(a), trigrams(b)];
  const common = [...x].filter(one => y.has(one)).length;
  return common / (x.size + y.size - common);
}

/** The known word that is nearest to one that was asked, for each that is unknown; null where nothing is near. */
export function suggestionFor(words: readonly string[], texts: readonly string[]): string | null {
  const known = [...new Set(texts.flatMap(text => folded(text).match(/[\p{L}\p{N}-]+/gu) ?? []))];
  let changed = false;
  const nearest = words.map(word => {
    const asked = folded(word);
    if (known.includes(asked)) return word;
    const best = known.map(one => ({ one, near: similarity(asked, one) })).sort((a, b) => b.near - a.near)[0];
    if (!best || best.near < 0.4) return word;
    changed = true;
    return best.one;
  });
  return changed ? nearest.join(' ') : null;
}
