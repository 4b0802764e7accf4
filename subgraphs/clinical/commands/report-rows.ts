import { biomarkerParsed } from '../../../events/catalogue/clinical.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { Biomarker } from '../entities/biomarker.js';
import { LabReport } from '../entities/lab-report.js';
import {
  BiomarkerObservation,
  BiomarkerObservationSource as Source,
  BiomarkerObservationStatus as Status,
} from '../entities/observation.js';
import { ReportRow, ReportRowState as State, type SealedRow } from '../entities/report-row.js';
import { markerOf } from '../queries/dictionary.js';
import { STANDING } from '../queries/observation.js';
import type { Demographics } from '../rules/demographics.js';
import { type JudgedRow, judgeRow, type ReadReport, type ReadRow, SURE } from '../rules/lab-report.js';
import { matches, type Meaning, meaningOf, namesOf, type Said } from '../rules/marker-names.js';
import { type Incoming, storeResults } from './observation-store.js';

/** The dictionary in force, with the names that laboratories use. */
async function dictionary(ctx: Context): Promise<{ entry: Biomarker; names: string[] }[]> {
  const entries = await ctx.em.find(Biomarker, { supersededAt: null }, { populate: ['ranges'] });
  return entries.map(entry => ({ entry, names: namesOf(entry) }));
}

/** The entry that a row names, and whether the name means it: a name of two entries leaves it open. */
function entryOf(row: ReadRow, known: Awaited<ReturnType<typeof dictionary>>, said: Said): { entry: Biomarker | null; meaning: Meaning } {
  const [first, second] = known.filter(one => matches(one.names, row.name));
  if (!first) return { entry: null, meaning: 'other' };
  return { entry: first.entry, meaning: second ? 'open' : meaningOf(row, first.entry, said) };
}

/** Rows of a report that was just read. */
export async function judgedRows(ctx: Context, report: LabReport, read: ReadReport): Promise<ReportRow[]> {
  const known = await dictionary(ctx);
  const draws = drawsOf(report);
  return read.rows.map((row, position) => {
    const { entry, meaning } = entryOf(row, known, read.said);
    const judged = judgeRow(row, entry && markerOf(entry), meaning);
    const at = row.collectedAt;
    if (at !== undefined) judged.sealed.drawn = at === null || at > ctx.now() ? null : draws(at); // a time to come is none
    return rowOf(ctx, report, { position, page: row.page, box: row.box }, judged);
  });
}

/** Results of one time are of one draw, and the report's own time is of the report's own draw. */
function drawsOf(report: LabReport): (at: Date) => { at: string; id: string } {
  const ids = new Map([[report.collectedAt?.getTime(), report.drawId]]);
  return at => {
    if (!ids.has(at.getTime())) ids.set(at.getTime(), newId());
    return { at: at.toISOString(), id: ids.get(at.getTime())! };
  };
}

/** The draw of a row: its own, else the report's. */
function drawOf(ctx: Context, report: LabReport, row: ReportRow): { collectedAt: Date | null; drawId: string } {
  const { drawn } = row.open(ctx);
  return drawn ? { collectedAt: new Date(drawn.at), drawId: drawn.id } : { collectedAt: report.collectedAt, drawId: report.drawId };
}

/** Whether it is known, without a person, when a row was drawn. */
export const isDrawn = (ctx: Context, report: LabReport, row: ReportRow): boolean =>
  row.open(ctx).drawn !== null && drawOf(ctx, report, row).collectedAt !== null;

/** Sets, by a person's statement, when those rows were drawn for which the report has no time. */
export function setDrawn(ctx: Context, report: LabReport, rows: readonly ReportRow[], at: Date): void {
  report.collectedAt ??= at;
  const drawn = drawsOf(report)(at);
  for (const row of rows) if (row.open(ctx).drawn === null) reseal(ctx, row, { drawn });
}

/** Where in the file a row stands. */
type Position = Pick<ReportRow, 'position' | 'page' | 'box'>;

function rowOf(ctx: Context, report: LabReport, at: Position, { code, confidence, sealed, ...judged }: JudgedRow): ReportRow {
  const state = judged.state === State.ACCEPTED && confidence < SURE ? State.MATCHED : judged.state;
  const { id: reportId, patientId } = report;
  const row = Object.assign(new ReportRow(), { reportId, patientId, ...at, code, confidence, state });
  row.seal(ctx, sealed);
  ctx.em.persist(row);
  return row;
}

/** A row that a person adds. */
export function addedRow(
  ctx: Context,
  report: LabReport,
  position: number,
  code: string,
  result: Pick<SealedRow, 'value' | 'unit' | 'comparator'>,
): ReportRow {
  const sealed: SealedRow = { rawText: '', range: null, proposedUnit: null, ...result };
  return rowOf(ctx, report, { position, page: 1, box: null }, { code, confidence: 1, state: State.ACCEPTED, sealed });
}

export const reseal = (ctx: Context, row: ReportRow, change: Partial<SealedRow>): void => row.seal(ctx, { ...row.open(ctx), ...change });

/** A row that becomes a result. */
export interface AcceptedRow {
  row: ReportRow;
  /** JSON pointer for what is wrong with it. */
  at: string;
  /** A person has decided, not a machine. */
  person: boolean;
  /** An implausible value is right. */
  confirmed: boolean;
}

/** A row as a result of its draw. */
function incomingOf(ctx: Context, report: LabReport, { row, at, person, confirmed }: AcceptedRow): Incoming {
  const { value, unit, comparator, range, status = Status.FINAL } = row.open(ctx);
  const { collectedAt, drawId } = drawOf(ctx, report, row);
  return {
    name: row.code!,
    value,
    unit,
    comparator,
    textValue: null,
    collectedAt: collectedAt!,
    drawId,
    source: Source.LAB,
    status,
    performer: report.performer,
    method: null,
    sourceRef: `report:${report.id}:${row.position}`,
    referenceRange: range,
    confirmed,
    at,
    reportId: report.id,
    verified: person,
  };
}

const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS);

/** Results that are stored of the markers and days of rows, from anywhere but this report. */
function storedBeside(
  ctx: Context,
  report: LabReport,
  rows: readonly ReportRow[],
  days: readonly number[],
): Promise<BiomarkerObservation[]> {
  return ctx.em.find(BiomarkerObservation, {
    patientId: report.patientId,
    ...STANDING,
    code: { $in: rows.flatMap(row => row.code ?? []) },
    collectedAt: { $gte: new Date(Math.min(...days) * DAY_MS), $lt: new Date((Math.max(...days) + 1) * DAY_MS) },
    $or: [{ reportId: null }, { reportId: { $ne: report.id } }],
  });
}

/** Marks rows whose result is stored already: the same day, value and laboratory. Source: clinical 4.2. */
export async function markDuplicates(ctx: Context, report: LabReport, rows: readonly ReportRow[]): Promise<void> {
  if (rows.length === 0) return;
  const days = rows.map(row => dayOf(drawOf(ctx, report, row).collectedAt!));
  const stored = await storedBeside(ctx, report, rows, days);
  for (const [index, row] of rows.entries()) {
    const { value, unit } = row.open(ctx);
    const same = stored.find(one => {
      const result = one.open(ctx);
      const sameLab = report.performer === null || one.performer === null || one.performer === report.performer;
      const sameDay = dayOf(one.collectedAt) === days[index];
      return one.code === row.code && sameDay && sameLab && result.value === value && result.unit === unit;
    });
    if (same) Object.assign(row, { state: State.DUPLICATE, observationId: same.id });
  }
}

/** Stores accepted rows as results of the draw; the patient is locked. */
export async function storeRows(
  ctx: Context,
  report: LabReport,
  rows: readonly AcceptedRow[],
  demographics: Demographics | null,
): Promise<void> {
  const incoming = rows.map(row => incomingOf(ctx, report, row));
  const stored = incoming.length ? await storeResults(ctx, report.patientId, incoming, demographics) : [];
  for (const [index, { row }] of rows.entries()) Object.assign(row, { state: State.ACCEPTED, observationId: stored[index]!.id });
}

/** Announced once, when nothing of a report waits any more. */
export function announceParsed(ctx: Context, report: LabReport, rows: readonly ReportRow[]): void {
  const taken = rows.filter(row => row.state === State.ACCEPTED || row.state === State.DUPLICATE);
  const codes = [...new Set(taken.map(row => row.code!))].slice(0, 100);
  const data = {
    report_id: report.id,
    codes,
    count: taken.length,
    unparsed_count: rows.length - taken.length,
    collected_at: report.collectedAt?.toISOString() ?? null,
  };
  ctx.emit(biomarkerParsed, data, { userId: report.patientId });
}
