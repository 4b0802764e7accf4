import { setImmediate as immediate } from 'node:timers/promises';
import { MOST_PAGES, type ReportType } from '../../rules/report-file.js';
import { collectedIn, notationIn, numberIn, type ReadReport, rowsOf } from '../../rules/lab-report.js';
import { saidIn } from '../../rules/marker-names.js';
import type { Line } from '../../rules/report-line.js';
import { inThread, ReportUnreadable } from './thread.js';

/** Reads a report. An outside service (region-bound, no retention) would be another one of these. Source: clinical 8. */
export interface ReportParser {
  /** @throws ReportUnreadable when the file cannot be read; anything else is tried again. */
  read(bytes: Buffer, type: ReportType): Promise<ReadReport>;
}

const VERSION = '2';

interface Text {
  pageCount: number;
  /** Null: too many pages. */
  lines: Line[] | null;
}

/** What a thread is given to read. */
export interface ReadData {
  bytes: Uint8Array;
  kind: 'pdf' | 'picture' | 'heic';
  mostPages: number;
  /** Pages of a PDF that are recognised; nothing: all. */
  pages?: readonly number[];
}

const script = (name: 'pdf' | 'ocr' | 'hl7' | 'fhir'): URL => {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./${name}-worker.${suffix}`, import.meta.url);
};

/** The text of a file, by lines. */
const textOf = (name: 'pdf' | 'ocr', data: ReadData): Promise<Text> => inThread<Text>(script(name), data);

/** Lines that are read before anything else of the process has its turn. */
const AT_ONCE = 100;

/** The rows of all lines, some at a time. */
async function rowsOfAll(lines: readonly Line[], collectedAt: Date | null): Promise<Pick<ReadReport, 'rows' | 'otherLines'>> {
  const notation = notationIn(lines);
  const whole: Pick<ReadReport, 'rows' | 'otherLines'> = { rows: [], otherLines: 0 };
  for (let from = 0; from < lines.length; from += AT_ONCE) {
    const { rows, otherLines } = rowsOf(lines.slice(from, from + AT_ONCE), notation, collectedAt);
    whole.rows.push(...rows);
    whole.otherLines += otherLines;
    await immediate();
  }
  return whole;
}

async function reportOf(parser: string, { pageCount, lines }: Text): Promise<ReadReport> {
  if (lines === null) throw new ReportUnreadable('too_many_pages');
  const collectedAt = collectedIn(lines);
  return {
    parser: { name: parser, version: VERSION },
    pageCount,
    collectedAt,
    reportNumber: numberIn(lines),
    performer: null,
    said: saidIn(lines.map(line => line.text)),
    ...(await rowsOfAll(lines, collectedAt)),
  };
}

/** The text of a picture or scan, recognised; each row is as sure as its least sure word. */
const recognised = async (bytes: Buffer, kind: ReadData['kind']): Promise<ReadReport> =>
  reportOf('ocr', await textOf('ocr', { bytes: new Uint8Array(bytes), kind, mostPages: MOST_PAGES }));

/** The text layer of a PDF; pages without one, scans, are recognised. */
async function readPdf(bytes: Buffer): Promise<ReadReport> {
  const data = () => ({ bytes: new Uint8Array(bytes), kind: 'pdf' as const, mostPages: MOST_PAGES });
  const { pageCount, lines } = await textOf('pdf', data());
  if (lines?.length === 0) return recognised(bytes, 'pdf');
  const pages = lines ? numbersTo(pageCount).filter(page => lines.every(line => line.page !== page)) : [];
  const seen = pages.length > 0 ? await textOf('ocr', { ...data(), pages }) : null;
  const all = lines && [...lines, ...(seen?.lines ?? [])].sort((a, b) => a.page - b.page);
  return reportOf('text_layer', { pageCount, lines: all });
}

const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Formats with named fields: no extraction, and nothing that is parsed in the main thread. */
async function structured(name: 'hl7' | 'fhir', bytes: Buffer): Promise<ReadReport> {
  const read = await inThread<Omit<ReadReport, 'said'>>(script(name), { bytes: new Uint8Array(bytes) });
  return { ...read, said: saidIn(read.rows.map(row => row.rawText)) };
}

/** The parser in this process: text layers, recognition of pictures and scans, HL7 v2 and FHIR. */
export const embeddedParser: ReportParser = {
  read: async (bytes, type) => {
    if (type === 'application/pdf') return readPdf(bytes);
    if (type === 'application/hl7-v2') return structured('hl7', bytes);
    if (type === 'application/fhir+json') return structured('fhir', bytes);
    return recognised(bytes, type === 'image/heic' ? 'heic' : 'picture');
  },
};
