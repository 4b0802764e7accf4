import { findRow, FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { LabReport, LabReportStatus as Status, REPORT_READERS } from '../entities/lab-report.js';
import { ReportRow, ReportRowState as State } from '../entities/report-row.js';
import { visibleRows } from '../entities/value-access.js';
import { ReportRowDecision, ReviewLabReportInput, ReviewReportRowInput } from '../inputs/lab-report.js';
import { demographicsOf } from '../ports/demographics.js';
import { given } from '../queries/conditions.js';
import { findMarkers } from '../queries/dictionary.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { openRows } from '../rules/lab-report.js';
import { moveReport } from './lab-report.js';
import { type AcceptedRow, addedRow, announceParsed, reseal, setDrawn, storeRows } from './report-rows.js';

type Markers = ReadonlyMap<string, { code: string }>;

/** A person's decision about one row, put into it. @returns the pointer of what is wrong with it, null for nothing. */
function decide(ctx: Context, decision: ReviewReportRowInput, row: ReportRow | undefined, markers: Markers, at: string): Violation | null {
  const code = decision.code ? markers.get(decision.code)?.code : row?.code;
  if (!row) return { pointer: `${at}/position`, message: 'is not a row that waits' };
  if (decision.decision === ReportRowDecision.REJECT) return (void (row.state = State.REJECTED), null);
  if (!code) return { pointer: `${at}/code`, message: decision.code ? 'is not in the dictionary' : 'is required' };
  row.code = code;
  const { value, unit, comparator } = decision;
  reseal(ctx, row, given({ value, unit, comparator }));
  return null;
}

/** A person's decisions, put into the rows. @returns the rows that were accepted, with their pointers. */
function decideAll(ctx: Context, input: ReviewLabReportInput, rows: readonly ReportRow[], markers: Markers): AcceptedRow[] {
  const errors: Violation[] = [];
  const accepted = input.rows.flatMap((decision, index) => {
    const at = `/input/rows/${index}`;
    const row = openRows(rows).find(one => one.position === decision.position);
    const error = decide(ctx, decision, row, markers, at);
    if (error) errors.push(error);
    return error || row!.state === State.REJECTED ? [] : [{ row: row!, at, person: true, confirmed: decision.confirmed }];
  });
  for (const [index, one] of input.added.entries())
    if (!markers.has(one.code)) errors.push({ pointer: `/input/added/${index}/code`, message: 'is not in the dictionary' });
  requireValid(errors);
  return accepted;
}

/** The rows that a person adds, behind those that were read. */
const addAll = (ctx: Context, report: LabReport, { added }: ReviewLabReportInput, count: number, markers: Markers): AcceptedRow[] =>
  added.map(({ code, value, unit, comparator = null, confirmed }, index) => ({
    row: addedRow(ctx, report, count + index, markers.get(code)!.code, { value, unit, comparator }),
    at: `/input/added/${index}`,
    person: true,
    confirmed,
  }));

/** The report, locked with its patient. @throws Problem not_found, conflict when it is not under review. */
async function lockUnderReview(ctx: Context, id: string): Promise<LabReport> {
  const report = await requireRow(ctx, LabReport, { id, ...visibleRows(ctx.caller, 'admin:clinical:results') });
  await lockPatient(ctx, report.patientId);
  await ctx.em.refresh(report, FOR_UPDATE);
  if (report.status !== Status.NEEDS_REVIEW) fail('conflict', `a ${report.status} report is not under review`);
  return report;
}

/** Demographics of the patient whose report is reviewed. */
export const reviewFacts = preparation(async (ctx, { input }: { input: ReviewLabReportInput }) => {
  const report = await findRow(ctx, LabReport, { id: input.id, ...visibleRows(ctx.caller, REPORT_READERS.staff) });
  return report && demographicsOf(ctx, report.patientId);
});

/** Accepts, edits or rejects rows that wait for a person; adds what no machine could read. @param demographics of {@link reviewFacts}. */
export async function reviewLabReport(ctx: Context, input: ReviewLabReportInput, demographics: Demographics | null): Promise<LabReport> {
  const report = await lockUnderReview(ctx, input.id);
  const rows = await ctx.em.find(ReportRow, { reportId: report.id }, { orderBy: { position: 'asc' } });
  const markers = await findMarkers(ctx, [...input.rows.flatMap(one => one.code ?? []), ...input.added.map(one => one.code)]);
  const decided = decideAll(ctx, input, rows, markers);
  const decidedRows = decided.map(one => one.row);
  if (input.collectedAt != null) setDrawn(ctx, report, decidedRows, input.collectedAt);
  const accepted = [...decided, ...addAll(ctx, report, input, rows.length, markers)];
  if (report.collectedAt === null && accepted.length > 0) invalid('/input/collectedAt', 'is required: the report does not say');
  await storeRows(ctx, report, accepted, demographics);
  const all = [...new Set([...rows, ...accepted.map(one => one.row)])];
  const open = openRows(all).length;
  ctx.audit('lab_report.reviewed', report.id, { accepted: accepted.length, open });
  if (open === 0 && all.length > 0) {
    moveReport(ctx, report, 'review');
    announceParsed(ctx, report, all);
  }
  return report;
}
