import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { escaped, type BulkFormat, type IsText } from './rows.js';

export const CONTENT_TYPES: Readonly<Record<BulkFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** As it is written: names of the wire, nothing for what has no value. */
export type Row = Readonly<Record<string, unknown>>;

/** A row as a line of CSV: texts as they are, everything else as JSON. What begins as a formula does gets an apostrophe. */
function csvLine(row: Row, columns: readonly string[], isText: IsText): string {
  const cells = columns.map(column => {
    const value = row[column];
    if (value === undefined || value === null) return '';
    return isText(column) ? escaped(value as string) : JSON.stringify(value);
  });
  return stringify([cells], { record_delimiter: 'windows' });
}

async function* linesOf(pages: AsyncIterable<readonly Row[]>, format: BulkFormat, columns: readonly string[], isText: IsText) {
  if (format === 'csv') yield stringify([[...columns]], { record_delimiter: 'windows' });
  for await (const rows of pages)
    yield rows.map(row => (format === 'csv' ? csvLine(row, columns, isText) : `${JSON.stringify(row)}\n`)).join('');
}

/** Rows as a stream, a page in memory at a time. @param columns of CSV, in order. */
export const exportRows = (
  pages: AsyncIterable<readonly Row[]>,
  format: BulkFormat,
  columns: readonly string[],
  isText: IsText,
): Readable => Readable.from(linesOf(pages, format, columns, isText));
