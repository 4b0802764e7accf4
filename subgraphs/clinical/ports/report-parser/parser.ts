import { MOST_PAGES, type ReportType } from '../../rules/report-file.js';
import { collectedIn, numberIn, readLine, type Line, type ReadReport } from '../../rules/lab-report.js';
import { inThread, ReportUnreadable } from './thread.js';

/** Reads a report. An outside service (region-bound, no retention) would be another one of these. Source: clinical 8. */
export interface ReportParser {
  /** @throws ReportUnreadable when the file cannot be read; anything else is tried again. */
  read(bytes: Buffer, type: ReportType): Promise<ReadReport>;
}

const VERSION = '1';

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
}

const script = (name: 'pdf' | 'ocr' | 'hl7' | 'fhir'): URL => {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./${name}-worker.${suffix}`, import.meta.url);
};

/** The text of a file, by lines. */
const textOf = (name: 'pdf' | 'ocr', data: ReadData): Promise<Text> => inThread<Text>(script(name), data);

function reportOf(parser: string, { pageCount, lines }: Text): ReadReport {
  if (lines === null) throw new ReportUnreadable('too_many_pages');
  return {
    parser: { name: parser, version: VERSION },
    pageCount,
    collectedAt: collectedIn(lines),
    reportNumber: numberIn(lines),
    performer: null,
    rows: lines.flatMap(line => readLine(line) ?? []),
  };
}

/** The text of a picture or scan, recognised; each row is as sure as its least sure word. */
const recognised = async (bytes: Buffer, kind: ReadData['kind']): Promise<ReadReport> =>
  reportOf('ocr', await textOf('ocr', { bytes: new Uint8Array(bytes), kind, mostPages: MOST_PAGES }));

/** The text layer of a PDF; a scan has none and is recognised. */
async function readPdf(bytes: Buffer): Promise<ReadReport> {
  const text = await textOf('pdf', { bytes: new Uint8Array(bytes), kind: 'pdf', mostPages: MOST_PAGES });
  return text.lines?.length === 0 ? recognised(bytes, 'pdf') : reportOf('text_layer', text);
}

/** Formats with named fields: no extraction, and nothing that is parsed in the main thread. */
const structured = (name: 'hl7' | 'fhir', bytes: Buffer): Promise<ReadReport> =>
  inThread<ReadReport>(script(name), { bytes: new Uint8Array(bytes) });

/** The parser in this process: text layers, recognition of pictures and scans, HL7 v2 and FHIR. */
export const embeddedParser: ReportParser = {
  read: async (bytes, type) => {
    if (type === 'application/pdf') return readPdf(bytes);
    if (type === 'application/hl7-v2') return structured('hl7', bytes);
    if (type === 'application/fhir+json') return structured('fhir', bytes);
    return recognised(bytes, type === 'image/heic' ? 'heic' : 'picture');
  },
};
