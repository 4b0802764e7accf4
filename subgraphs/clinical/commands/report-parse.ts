import { LockMode } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { LabReport, LabReportStatus as Status } from '../entities/lab-report.js';
import { ReportRowState as State } from '../entities/report-row.js';
import { demographicsOf } from '../ports/demographics.js';
import { embeddedDocuments } from '../ports/document-store.js';
import { embeddedParser } from '../ports/report-parser/parser.js';
import { ReaderDied, ReportUnreadable } from '../ports/report-parser/thread.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { type LabReportTrigger, type ReadReport, REPORT_STATES } from '../rules/lab-report.js';
import { refusalOfFile, type ReportType } from '../rules/report-file.js';
import { announceParsed, isDrawn, judgedRows, markDuplicates, openRows, storeRows } from './report-rows.js';

/** A parse that has not ended by then is taken over, ms. */
const LEASE_MS = 120_000;
/** A parser that fails so often has failed; what cannot be read at all fails at once. Source: clinical 3. */
const MOST_ATTEMPTS = 3;
const AGAIN_MS = 60_000;

export function moveReport(ctx: Context, report: LabReport, trigger: LabReportTrigger): void {
  const from = report.status;
  report.status = move(REPORT_STATES, 'lab report', from, trigger);
  ctx.audit(`lab_report.${trigger}`, report.id, { from, to: report.status });
}

/** The report for this attempt, in PARSING, or null: refused, or taken by somebody else. */
async function begin(ctx: Context, id: string): Promise<{ type: ReportType; bytes: Buffer; patientId: string } | null> {
  const report = await ctx.em.findOne(LabReport, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!report || report.dueAt === null) return null;
  const bytes = await embeddedDocuments.get(ctx, report.documentId);
  if (bytes === null) return null;
  if (report.status === Status.UPLOADED) moveReport(ctx, report, 'scan');
  const type = report.mimeType as ReportType;
  const refusal = report.status === Status.SCANNING ? refusalOfFile(bytes, type) : null;
  if (refusal) {
    Object.assign(report, { failureCode: refusal, dueAt: null });
    return (moveReport(ctx, report, 'reject'), null);
  }
  if (report.status === Status.SCANNING) moveReport(ctx, report, 'parse');
  report.attempts += 1;
  return { type, bytes, patientId: report.patientId };
}

async function keep(ctx: Context, id: string, read: ReadReport, demographics: Demographics | null): Promise<void> {
  const found = await ctx.em.findOne(LabReport, { id });
  if (!found) return; // erased meanwhile
  await lockPatient(ctx, found.patientId);
  const report = await ctx.em.findOne(LabReport, { id, status: Status.PARSING }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!report) return;
  Object.assign(report, {
    pageCount: read.pageCount,
    collectedAt: read.collectedAt !== null && read.collectedAt <= ctx.now() ? read.collectedAt : null,
    reportNumber: read.reportNumber,
    performer: report.performer ?? read.performer,
    parserName: read.parser.name,
    parserVersion: read.parser.version,
    dueAt: null,
  });
  const rows = await judgedRows(ctx, report, read);
  const sure = rows.filter(row => row.state === State.ACCEPTED);
  for (const row of sure) if (!isDrawn(ctx, report, row)) row.state = State.MATCHED; // the draw time decides everything clinical
  await markDuplicates(
    ctx,
    report,
    sure.filter(row => row.state === State.ACCEPTED),
  );
  const fresh = sure.filter(row => row.state === State.ACCEPTED);
  await storeRows(
    ctx,
    report,
    fresh.map(row => ({ row, at: `/rows/${row.position}`, person: false, confirmed: false })),
    demographics,
  );
  const done = rows.length > 0 && openRows(rows).length === 0;
  moveReport(ctx, report, done ? 'accept' : 'need_review');
  if (done) announceParsed(ctx, report, rows);
}

async function failed(ctx: Context, id: string, error: unknown): Promise<void> {
  const report = await ctx.em.findOne(LabReport, { id, status: Status.PARSING }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!report) return;
  const final = error instanceof ReportUnreadable || report.attempts >= MOST_ATTEMPTS;
  const isNamed = error instanceof ReportUnreadable || error instanceof ReaderDied;
  report.failureCode = isNamed ? error.failureCode : 'parser_error';
  report.dueAt = final ? null : new Date(ctx.now().getTime() + AGAIN_MS);
  if (final) moveReport(ctx, report, 'fail');
  ctx.log.warn({ report: id, failure: report.failureCode, attempts: report.attempts }, 'a lab report could not be read');
}

async function readOne(ctx: Context, id: string): Promise<void> {
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

/** Reads reports outside any transaction; a claim that its process did not end is taken over. Source: clinical 4.2. */
export const reportTimer: Timer<Context> = {
  name: 'lab_report.parse',
  everySeconds: 2,
  next: async ctx => {
    const [row] = await ctx.sql<{ due: number | null }>(
      `select (extract(epoch from min(due_at)) * 1000)::float8 as due from ${ctx.schema}.lab_report where due_at is not null`,
    );
    return row?.due == null ? null : new Date(row.due);
  },
  run: async (ctx, at) => {
    const claimed = await ctx.em.find(LabReport, { dueAt: new Date(at.getTime() + LEASE_MS) }, { limit: 5 });
    for (const { id } of claimed) await readOne(ctx, id);
  },
  claimed: {
    claim: async (ctx, at) => {
      await ctx.sql(
        `update ${ctx.schema}.lab_report set due_at = $2 where id in
           (select id from ${ctx.schema}.lab_report where due_at <= $1 order by due_at limit 5 for update skip locked)`,
        [at.toISOString(), new Date(at.getTime() + LEASE_MS).toISOString()],
      );
    },
    keep: async () => undefined,
    finish: async () => undefined,
  },
};
