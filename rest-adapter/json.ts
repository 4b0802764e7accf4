/** Strict JSON: what `JSON.parse` lets pass in silence (keys that stand twice, `__proto__`, U+0000, bottomless nesting) is refused by pointer. */
import { fail, type Violation } from '../runtime/request/errors.js';
import { segment } from '../runtime/schema/wire-reader.js';

/** Deeper than any input type; keeps recursion over a body bounded. */
const MAX_DEPTH = 64;

/** An open object or array; `at` is the key or index of the value being read in it. */
interface Frame {
  keys: Set<string> | null;
  at: string | number;
}

interface Scan {
  text: string;
  open: Frame[];
  found: Violation[];
}

/** Index of the quote that ends the string beginning at `start`: the first one that is not escaped. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slash = end;
    while (text[slash - 1] === '\\') slash--;
    if ((end - slash) % 2 === 0) return end;
  }
}

const pointerOf = ({ open }: Scan): string => open.map(frame => `/${segment(String(frame.at))}`).join('');

function addViolation(scan: Scan, message: string): void {
  scan.found.push({ pointer: pointerOf(scan), message });
}

const NEXT_IS_COLON = /\s*:/y;

function isKey(text: string, end: number): boolean {
  NEXT_IS_COLON.lastIndex = end + 1;
  return NEXT_IS_COLON.test(text);
}

function enterKey(scan: Scan, key: string): void {
  const frame = scan.open.at(-1)!;
  frame.at = key;
  if (frame.keys!.has(key)) addViolation(scan, 'stands twice');
  frame.keys!.add(key);
  if (key === '__proto__') addViolation(scan, 'is not a known key');
}

/** @returns index of the string's last quote. */
function readString(scan: Scan, start: number): number {
  const end = endOfString(scan.text, start);
  const value = JSON.parse(scan.text.slice(start, end + 1)) as string;
  if (isKey(scan.text, end)) enterKey(scan, value);
  if (value.includes('\0')) addViolation(scan, 'must not contain U+0000');
  if (!value.isWellFormed()) addViolation(scan, 'must not contain half a surrogate pair');
  return end;
}

function openFrame(scan: Scan, keys: Set<string> | null): void {
  if (scan.open.length === MAX_DEPTH) fail('invalid_request', `The body is nested deeper than ${MAX_DEPTH} levels`);
  scan.open.push({ keys, at: 0 });
}

function step(scan: Scan, index: number): number {
  const frame = scan.open.at(-1);
  switch (scan.text[index]) {
    case '"':
      return readString(scan, index);
    case '{':
    case '[':
      openFrame(scan, scan.text[index] === '{' ? new Set() : null);
      return index;
    case '}':
    case ']':
      scan.open.pop();
      return index;
    case ',':
      if (frame!.keys === null) frame!.at = (frame!.at as number) + 1;
      return index;
    default:
      return index;
  }
}

/** Every violation in a text that is known to be JSON. */
function violationsIn(text: string): Violation[] {
  const scan: Scan = { text, open: [], found: [] };
  for (let index = 0; index < text.length; index++) index = step(scan, index);
  return scan.found;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return fail('invalid_request', 'The body is not valid UTF-8');
  }
}

/** @throws Problem invalid_request; the parser's own message is not passed on, because it repeats the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail('invalid_request', 'The body is not valid JSON', { errors: [{ pointer: '', message: 'is not valid JSON' }] });
  }
}

/** A JSON body; undefined for an empty one. @throws Problem invalid_request. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  if (text.trim() === '') return undefined;
  const value = parse(text);
  const errors = violationsIn(text);
  if (errors.length > 0) fail('invalid_request', 'The body has keys or values that are not allowed', { errors });
  return value;
}
