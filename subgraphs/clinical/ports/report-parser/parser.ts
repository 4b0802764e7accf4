import { Worker } from 'node:worker_threads';
import { BiomarkerObservationComparator as Comparator } from '../../entities/observation.js';
import { MOST_PAGES, type ReportType } from '../../rules/report-file.js';
import { collectedIn, numberIn, readLine, type Line, type ReadReport, type ReadRow } from '../../rules/report.js';

/** Reads what a report says. An outside service (region-bound, no retention) would be another one of these. Source: clinical 8. */
export interface ReportParser {
  /** @throws ReportUnreadable when the file cannot be read; anything else is tried again. */
  read(bytes: Buffer, type: ReportType): Promise<ReadReport>;
}

/** A file that no repetition will make readable. */
export class ReportUnreadable extends Error {
  constructor(readonly failureCode: string) {
    super(failureCode);
  }
}

const VERSION = '1';
/** Limits of a parse. Source: clinical 7.3.5. */
const DEADLINE_MS = 60_000;
const MOST_MB = 512;

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

const worker = (name: string): URL => {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./${name}-worker.${suffix}`, import.meta.url);
};

/** The text of a file, read in a thread with a deadline and a limit of memory. */
function textOf(name: 'pdf' | 'ocr', workerData: ReadData): Promise<Text> {
  const thread = new Worker(worker(name), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
    stderr: true,
    stdout: true,
    env: {},
  });
  const deadline = setTimeout(() => void thread.terminate(), DEADLINE_MS);
  return new Promise<Text>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', () => reject(new ReportUnreadable('unreadable')));
    thread.once('exit', () => reject(new ReportUnreadable('too_slow')));
  }).finally(() => {
    clearTimeout(deadline);
    void thread.terminate();
  });
}

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

const instantOf = (text: string | undefined): Date | null => {
  const match = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2}))?/.exec(text ?? '');
  return match ? new Date(Date.UTC(+match[1]!, +match[2]! - 1, +match[3]!, +(match[4] ?? 0), +(match[5] ?? 0))) : null;
};

const ABNORMAL: Readonly<Record<string, Comparator>> = { '<': Comparator.LT, '>': Comparator.GT, '<=': Comparator.LE, '>=': Comparator.GE };

function hl7Row(fields: readonly string[]): ReadRow {
  const [code = '', name = ''] = (fields[3] ?? '').split('^');
  const [, sign, number] = /^\s*(<=|>=|<|>)?\s*([\d.]+)\s*$/.exec(fields[5] ?? '') ?? [];
  const [, low, high] = /^([\d.]+)-([\d.]+)$/.exec(fields[7] ?? '') ?? [];
  return {
    page: 1,
    box: null,
    rawText: fields.join('|'),
    name: code || name,
    value: number === undefined ? null : Number(number),
    unit: (fields[6] ?? '').split('^')[0] || null,
    comparator: sign ? ABNORMAL[sign]! : null,
    range: low === undefined ? null : { low: Number(low), high: Number(high) },
  };
}

/** HL7 v2 ORU^R01: OBR-7 is the draw, OBX the results. */
function readHl7(bytes: Buffer): ReadReport {
  const segments = bytes.toString('utf8').split(/[\r\n]+/).map(line => line.split('|')); // prettier-ignore
  const order = segments.find(one => one[0] === 'OBR');
  return {
    parser: { name: 'hl7_v2', version: VERSION },
    pageCount: null,
    collectedAt: instantOf(order?.[7]),
    reportNumber: order?.[3]?.split('^')[0] || null,
    performer: null,
    rows: segments.filter(one => one[0] === 'OBX').map(hl7Row),
  };
}

interface FhirObservation {
  resourceType: string;
  code?: { coding?: { code?: string }[]; text?: string };
  effectiveDateTime?: string;
  valueQuantity?: { value?: number; unit?: string; code?: string; comparator?: string };
  referenceRange?: { low?: { value?: number }; high?: { value?: number } }[];
}

function fhirRow(one: FhirObservation): ReadRow {
  const { value = null, code, unit, comparator } = one.valueQuantity ?? {};
  const range = one.referenceRange?.[0];
  return {
    page: 1,
    box: null,
    rawText: JSON.stringify(one).slice(0, 4000),
    name: one.code?.coding?.[0]?.code ?? one.code?.text ?? '',
    value,
    unit: code ?? unit ?? null,
    comparator: comparator ? (ABNORMAL[comparator] ?? null) : null,
    range: range ? { low: range.low?.value ?? null, high: range.high?.value ?? null } : null,
  };
}

function readFhir(bytes: Buffer): ReadReport {
  const { entry = [] } = JSON.parse(bytes.toString('utf8')) as { entry?: { resource?: FhirObservation }[] };
  const observations = entry.flatMap(({ resource }) => (resource?.resourceType === 'Observation' ? [resource] : []));
  const at = observations.map(one => new Date(one.effectiveDateTime ?? '')).find(date => !Number.isNaN(date.getTime()));
  return {
    parser: { name: 'fhir_bundle', version: VERSION },
    pageCount: null,
    collectedAt: at ?? null,
    reportNumber: null,
    performer: null,
    rows: observations.map(fhirRow),
  };
}

/** The parser in this process: text layers, recognition of pictures and scans, HL7 v2 and FHIR. */
export const embeddedParser: ReportParser = {
  read: async (bytes, type) => {
    if (type === 'application/pdf') return readPdf(bytes);
    if (type === 'application/hl7-v2') return readHl7(bytes);
    if (type === 'application/fhir+json') return readFhir(bytes);
    return recognised(bytes, type === 'image/heic' ? 'heic' : 'picture');
  },
};
