import { parentPort, workerData } from 'node:worker_threads';
import type { ReadReport, ReadRow } from '../../rules/lab-report.js';

const COMPARATORS: Readonly<Record<string, string>> = { '<': 'lt', '>': 'gt', '<=': 'le', '>=': 'ge' };
/** OBX-11 by HL7 table 0085; null: there is no result, or there is none any more. What the table does not know is not final. */
const STATUS: Readonly<Record<string, string | null>> = {
  '': 'final',
  F: 'final',
  U: 'final',
  V: 'final',
  B: 'final',
  C: 'corrected',
  A: 'corrected',
  D: null,
  W: null,
  X: null,
  N: null,
  O: null,
  I: null,
};
const TIME = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(?:(\d{2})(?:\.\d+)?)?)?(?:([+-]\d{2})(\d{2}))?/;

/** A time without an offset is taken as UTC. */
function instantOf(text: string | undefined): Date | null {
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone, rest] = TIME.exec(text ?? '') ?? [];
  const at = year ? new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone ? `${zone}:${rest}` : 'Z'}`) : null;
  return at && !Number.isNaN(at.getTime()) ? at : null;
}

function rowOf(fields: readonly string[], collectedAt: Date | null): ReadRow[] {
  const status = STATUS[(fields[11] ?? '').trim()];
  if (status === null) return [];
  const [code = '', name = ''] = (fields[3] ?? '').split('^');
  const [, sign, number] = /^\s*(<=|>=|<|>)?\s*([\d.]+)\s*$/.exec(fields[5] ?? '') ?? [];
  const [, low, high] = /^([\d.]+)-([\d.]+)$/.exec(fields[7] ?? '') ?? [];
  const row = {
    page: 1,
    box: null,
    rawText: fields.join('|').slice(0, 4000),
    name: code || name,
    value: number === undefined ? null : Number(number),
    unit: (fields[6] ?? '').split('^')[0] || null,
    comparator: sign ? COMPARATORS[sign]! : null,
    range: low === undefined ? null : { low: Number(low), high: Number(high) },
    collectedAt,
    status: status ?? 'preliminary',
  };
  return [row as ReadRow]; // names of the enums' values
}

/** HL7 v2 ORU^R01: OBR-7 has the time of the draw of the OBX behind it. */
function report(text: string): Omit<ReadReport, 'said'> {
  const segments = text.split(/[\r\n]+/).map(line => line.split('|'));
  const order = segments.find(one => one[0] === 'OBR');
  let drawn: Date | null = null;
  const rows = segments.flatMap(fields => {
    if (fields[0] === 'OBR') drawn = instantOf(fields[7]);
    return fields[0] === 'OBX' ? rowOf(fields, drawn) : [];
  });
  return {
    parser: { name: 'hl7_v2', version: '2' },
    pageCount: null,
    collectedAt: rows.find(row => row.collectedAt)?.collectedAt ?? null,
    reportNumber: order?.[3]?.split('^')[0] || null,
    performer: null,
    rows,
    otherLines: segments.filter(fields => fields[0] === 'OBX').length - rows.length,
  };
}

const { bytes } = workerData as { bytes: Uint8Array };
parentPort!.postMessage(report(new TextDecoder().decode(bytes)));
