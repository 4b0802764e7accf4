import { findRow, FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { LabReport, LabReportStatus as Status } from '../entities/lab-report.js';
import { ReportRow, ReportRowState as State } from '../entities/report-row.js';
import { demographicsOf } from '../ports/demographics.js';
import { embeddedDocuments } from '../ports/document-store.js';
import { embeddedParser } from '../ports/report-parser/parser.js';
import { ReaderDied, ReportUnreadable } from '../ports/report-parser/thread.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { openRows, type ReadReport } from '../rules/lab-report.js';
import { refusalOfFile, type ReportType } from '../rules/report-file.js';
import { moveReport } from './lab-report.js';
import { announceParsed, isDrawn, judgedRows, markDuplicates, storeRows } from './report-rows.js';

/** A parser that fails so often has failed; what cannot be read at all fails at once. Source: clinical 3. */
const MOST_ATTEMPTS = 3;
const AGAIN_MS = MINUTE_MS;

/** What is needed to read a report. */
interface Reading {
  type: ReportType;
  bytes: Buffer;
  patientId: string;
}

/** Looks for what forbids that a report is read. @returns whether it was rejected. */
function scan(ctx: Context, report: LabReport, bytes: Buffer): boolean {
  if (report.status === Status.UPLOADED) moveReport(ctx, report, 'scan');
  if (report.status !== Status.SCANNING) return false;
  const refusal = refusalOfFile(bytes, report.mimeType as ReportType);
  if (refusal) Object.assign(report, { failureCode: refusal, dueAt: null });
  moveReport(ctx, report, refusal ? 'reject' : 'parse');
  return refusal !== null;
}

/** The report for this attempt, in PARSING, or null: refused, or taken by somebody else. */
async function begin(ctx: Context, id: string): Promise<Reading | null> {
  const report = await findRow(ctx, LabReport, { id }, FOR_UPDATE);
  if (!report || report.dueAt === null) return null;
  const bytes = await embeddedDocuments.get(ctx, report.documentId);
  if (bytes === null || scan(ctx, report, bytes)) return null;
  report.attempts += 1;
  return { type: report.mimeType as ReportType, bytes, patientId: report.patientId };
}

/** The report, locked with its patient; null when it was erased or taken over meanwhile. */
async function lockParsing(ctx: Context, id: string): Promise<LabReport | null> {
  const found = await ctx.em.findOne(LabReport, { id });
  if (!found) return null;
  await lockPatient(ctx, found.patientId);
  return ctx.em.findOne(LabReport, { id, status: Status.PARSING }, { ...FOR_UPDATE, refresh: true });
}

const describe = (ctx: Context, report: LabReport, read: ReadReport): LabReport =>
  Object.assign(report, {
    pageCount: read.pageCount,
    collectedAt: read.collectedAt !== null && read.collectedAt <= ctx.now() ? read.collectedAt : null,
    reportNumber: read.reportNumber,
    performer: report.performer ?? read.performer,
    parserName: read.parser.name,
    parserVersion: read.parser.version,
    linesRead: read.rows.length + read.otherLines,
    otherLines: read.otherLines,
    dueAt: null,
  });

const accepted = (rows: readonly ReportRow[]): ReportRow[] => rows.filter(row => row.state === State.ACCEPTED);

async function keep(ctx: Context, id: string, read: ReadReport, demographics: Demographics | null): Promise<void> {
  const report = await lockParsing(ctx, id);
  if (!report) return;
  describe(ctx, report, read);
  const rows = await judgedRows(ctx, report, read);
  for (const row of accepted(rows)) if (!isDrawn(ctx, report, row)) row.state = State.MATCHED; // the draw time decides everything clinical
  await markDuplicates(ctx, report, accepted(rows));
  const fresh = accepted(rows).map(row => ({ row, at: `/rows/${row.position}`, person: false, confirmed: false }));
  await storeRows(ctx, report, fresh, demographics);
  const done = rows.length > 0 && openRows(rows).length === 0;
  moveReport(ctx, report, done ? 'accept' : 'need_review');
  if (done) announceParsed(ctx, report, rows);
}

async function failed(ctx: Context, id: string, error: unknown): Promise<void> {
  const report = await ctx.em.findOne(LabReport, { id, status: Status.PARSING }, FOR_UPDATE);
  if (!report) return;
  const final = error instanceof ReportUnreadable || report.attempts >= MOST_ATTEMPTS;
  const isNamed = error instanceof ReportUnreadable || error instanceof ReaderDied;
  report.failureCode = isNamed ? error.failureCode : 'parser_error';
  report.dueAt = final ? null : after(ctx.now(), AGAIN_MS);
  if (final) moveReport(ctx, report, 'fail');
  ctx.log.warn({ report: id, failure: report.failureCode, attempts: report.attempts }, 'a lab report could not be read');
}

/** Reads one report that was claimed, outside any transaction. Source: clinical 4.2. */
export async function readReport(ctx: Context, { id }: LabReport): Promise<void> {
  const begun = await ctx.host.transaction(tx => begin(tx, id));
  if (!begun) return;
  try {
    ctx.host.fault('lab_report.parse', id);
    const [read, demographics] = await Promise.all([embeddedParser.read(begun.bytes, begun.type), demographicsOf(ctx, begun.patientId)]);
    await ctx.host.transaction(tx => keep(tx, id, read, demographics));
  } catch (error) {
    await ctx.host.transaction(tx => failed(tx, id, error));
  }
}
