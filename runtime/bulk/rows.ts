import { parse } from 'csv-parse/sync';
import { fail, invalid } from '../request/errors.js';
import { isObject } from '../schema/wire-reader.js';

export const FORMATS = ['csv', 'jsonl'] as const;
export type BulkFormat = (typeof FORMATS)[number];

/** Of one call. Source: content 4.2, commerce 4.2. */
const MAX_ROWS = 1_000;
export const MAX_BULK_BYTES = 5 * 1024 * 1024;

/** Columns whose cells are texts as they stand; those of all others are JSON. */
export type IsText = (column: string) => boolean;

/** A row as it was given, or what is wrong with its form. `number` counts from one, without a header. */
export interface BulkRow {
  number: number;
  value: Record<string, unknown> | null;
}

/** An empty cell says nothing, so that what has no value is the same as what is not there. */
function cellsOf(record: Readonly<Record<string, string>>, isText: IsText): Record<string, unknown> | null {
  const entries = Object.entries(record).filter(([, cell]) => cell !== '');
  try {
    return Object.fromEntries(entries.map(([column, cell]) => [column, isText(column) ? unescaped(cell) : JSON.parse(cell)]));
  } catch {
    return null;
  }
}

/** What a spreadsheet would take for a formula, behind any number of apostrophes. */
const FORMULA = /^'*[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;

/** A text as a cell: an apostrophe before what would be a formula. */
export const escaped = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);
const unescaped = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);

function csvRecords(text: string): Record<string, string>[] {
  try {
    return parse(text, { bom: true, columns: true, skip_empty_lines: true, max_record_size: MAX_BULK_BYTES });
  } catch {
    return invalid('', 'is no CSV with a line of column names, and as many cells in each line');
  }
}

function jsonValue(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function valuesOf(text: string, format: BulkFormat, isText: IsText): (Record<string, unknown> | null)[] {
  if (format === 'csv') return csvRecords(text).map(record => cellsOf(record, isText));
  return text
    .split(/\r?\n/)
    .filter(line => line.trim() !== '')
    .map(jsonValue);
}

/** The rows of a body. @throws Problem invalid_request, payload_too_large for more than 1,000. */
export function rowsOf(body: Buffer, format: BulkFormat, isText: IsText): BulkRow[] {
  const values = valuesOf(textOf(body), format, isText);
  if (values.length > MAX_ROWS) fail('payload_too_large', `A call has at most ${MAX_ROWS} rows`);
  return values.map((value, index) => ({ number: index + 1, value }));
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return invalid('', 'is not in UTF-8');
  }
}
