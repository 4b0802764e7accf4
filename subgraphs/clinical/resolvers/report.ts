import { createHash } from 'node:crypto';
import { type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { bloodworkUploaded } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access/access.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { isStaff } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { auditRead } from '../commands/read-audit.js';
import { moveReport } from '../commands/report-parse.js';
import { addedRow, announceParsed, openRows, reseal, sayDrawn, storeRows } from '../commands/report-rows.js';
import {
  LabReport,
  LabReportConnection,
  LabReportCounts,
  LabReportFile,
  LabReportSource,
  LabReportStatus as Status,
} from '../entities/lab-report.js';
import { ReportRow, ReportRowState as State } from '../entities/report-row.js';
import { visibleRows } from '../entities/value-access.js';
import { MyLabReportsArgs, ReportRowDecision, ReviewLabReportInput, UploadLabReportInput } from '../inputs/lab-report.js';
import { demographicsOf } from '../ports/demographics.js';
import { embeddedDocuments } from '../ports/document-store.js';
import { findMarkers } from '../queries/dictionary.js';
import { lockPatient, patientOf, requireNotErased } from '../queries/patient.js';
import { linkTo } from '../queries/report-link.js';
import type { Demographics } from '../rules/demographics.js';
import { MOST_BYTES, sniff } from '../rules/report-file.js';

const READERS = 'admin:clinical:read|admin:clinical:results';

function sourceOf({ caller }: Context, patientId: string): LabReportSource {
  if (caller.kind === 'service') return caller.serviceSlug === 'labs' ? LabReportSource.LABS : LabReportSource.PARTNER;
  return isStaff(caller) && caller.userId !== patientId ? LabReportSource.STAFF : LabReportSource.MEMBER;
}

const UPLOADED_BY = {
  [LabReportSource.MEMBER]: 'member',
  [LabReportSource.STAFF]: 'staff',
  [LabReportSource.PARTNER]: 'partner',
  [LabReportSource.LABS]: 'partner',
} as const;

async function ownReport(ctx: Context, id: string, permission: string): Promise<LabReport> {
  const where = { id: id.toLowerCase(), ...visibleRows(ctx.caller, permission) };
  return (isUuid(id) && (await ctx.em.findOne(LabReport, where))) || fail('not_found', 'Not found');
}

const rowsOf = (ctx: Context, reportId: string): Promise<ReportRow[]> =>
  ctx.em.find(ReportRow, { reportId }, { orderBy: { position: 'asc' } });

/** A person's edits, put into the rows. @returns the rows that were accepted, with their pointers. */
function decided(ctx: Context, input: ReviewLabReportInput, rows: readonly ReportRow[], codes: ReadonlyMap<string, { code: string }>) {
  const errors: Violation[] = [];
  const accepted = input.rows.flatMap((said, index) => {
    const at = `/input/rows/${index}`;
    const row = openRows(rows).find(one => one.position === said.position);
    const code = said.code ? codes.get(said.code)?.code : row?.code;
    if (!row) errors.push({ pointer: `${at}/position`, message: 'is not a row that waits' });
    else if (said.decision === ReportRowDecision.REJECT) row.state = State.REJECTED;
    else if (!code) errors.push({ pointer: `${at}/code`, message: said.code ? 'is not in the dictionary' : 'is required' });
    else {
      row.code = code;
      const { value, unit, comparator } = said;
      reseal(ctx, row, { ...(value != null && { value }), ...(unit != null && { unit }), ...(comparator != null && { comparator }) });
      return [{ row, at, person: true, confirmed: said.confirmed }];
    }
    return [];
  });
  for (const [index, one] of input.added.entries())
    if (!codes.has(one.code)) errors.push({ pointer: `/input/added/${index}/code`, message: 'is not in the dictionary' });
  requireValid(errors);
  return accepted;
}

@Resolver(() => LabReport)
export class LabReportResolver {
  @Access({ user: 'read:lab_results' })
  @Query(() => LabReportConnection, { description: 'Own reports, newest first.' })
  myLabReports(@Args(() => MyLabReportsArgs) { status, ...paging }: MyLabReportsArgs, @Ctx() ctx: Context): Promise<Connection<LabReport>> {
    const where = { patientId: ctx.caller.userId!, ...(status && { status: { $in: status } }) } as FilterQuery<LabReport>;
    return page<LabReport>(ctx.em, LabReport, where, paging, { time: 'createdAt' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:lab_results' })
  @Query(() => LabReport, { nullable: true, description: 'One report with its rows.' })
  async labReport(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LabReport | null> {
    const report = isUuid(id) ? await ctx.em.findOne(LabReport, { id: id.toLowerCase(), ...visibleRows(ctx.caller) }) : null;
    if (report) await auditRead(ctx, 'lab_reports', [report]);
    return report;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:lab_results' })
  @FieldResolver(() => LabReportFile, { description: 'A link to the file, good for 60 seconds; every link is audited.' })
  file(@Root() report: LabReport, @Ctx() ctx: Context): Promise<LabReportFile> {
    return linkTo(ctx, report);
  }

  @FieldResolver(() => [ReportRow])
  async rows(@Root() report: LabReport, @Ctx() ctx: Context): Promise<ReportRow[]> {
    const rows = await ctx.load('report.rows', report.id, async ids => {
      const found = await ctx.em.find(ReportRow, { reportId: { $in: [...ids] } }, { orderBy: { position: 'asc' } });
      return ids.map(id => found.filter(row => row.reportId === id));
    });
    return rows ?? [];
  }

  @FieldResolver(() => LabReportCounts)
  async counts(@Root() report: LabReport, @Ctx() ctx: Context): Promise<LabReportCounts> {
    const rows = await this.rows(report, ctx);
    const of = (state: State): number => rows.filter(row => row.state === state).length;
    return {
      rows: rows.length,
      accepted: of(State.ACCEPTED),
      open: openRows(rows).length,
      duplicate: of(State.DUPLICATE),
      rejected: of(State.REJECTED),
    };
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results', user: 'write:biomarkers', self: true })
  @Mutation(() => LabReport, {
    description: 'Takes a report to be read. The same file again: the report that is there; one that failed is read again.',
  })
  async uploadLabReport(@Arg('input', () => UploadLabReportInput) input: UploadLabReportInput, @Ctx() ctx: Context): Promise<LabReport> {
    const patientId = patientOf(ctx, input.userId);
    if (input.file.length % 4) invalid('/input/file', 'is not base64');
    const bytes = Buffer.from(input.file, 'base64');
    if (bytes.length > MOST_BYTES) fail('payload_too_large', 'A report has at most 20 MiB');
    const mimeType = sniff(bytes) ?? fail('unsupported_media_type', 'A report is a PDF, JPEG, PNG, HEIC, HL7 v2 message or FHIR Bundle');
    await lockPatient(ctx, patientId);
    await requireNotErased(ctx, patientId);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const before = await ctx.em.findOne(LabReport, { patientId, sha256 });
    if (before) {
      if (before.status === Status.FAILED) {
        moveReport(ctx, before, 'retry');
        Object.assign(before, { attempts: 0, failureCode: null, dueAt: ctx.now() });
      }
      return before;
    }
    const source = sourceOf(ctx, patientId);
    const report = Object.assign(new LabReport(), {
      patientId,
      source,
      mimeType,
      sha256,
      documentId: newId(),
      performer: input.performer ?? null,
      createdAt: ctx.now(),
      dueAt: ctx.now(),
    });
    await embeddedDocuments.put(ctx, report.documentId, patientId, bytes);
    ctx.em.persist(report);
    const data = { report_id: report.id, document_id: report.documentId, uploaded_by: UPLOADED_BY[source], page_count: null };
    ctx.emit(bloodworkUploaded, data, { userId: patientId });
    ctx.audit('lab_report.uploaded', report.id, { source, type: mimeType });
    return report;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results', user: 'write:biomarkers' })
  @Prepare(async (ctx, { input }: { input: ReviewLabReportInput }) => {
    const report = isUuid(input.id)
      ? await ctx.em.findOne(LabReport, { id: input.id.toLowerCase(), ...visibleRows(ctx.caller, READERS) })
      : null;
    return report && demographicsOf(ctx, report.patientId);
  })
  @Mutation(() => LabReport, { description: 'Accepts, edits or rejects rows that wait for a person; adds what no machine could read.' })
  async reviewLabReport(@Arg('input', () => ReviewLabReportInput) input: ReviewLabReportInput, @Ctx() ctx: Context): Promise<LabReport> {
    const report = await ownReport(ctx, input.id, 'admin:clinical:results');
    await lockPatient(ctx, report.patientId);
    await ctx.em.refresh(report, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (report.status !== Status.NEEDS_REVIEW) fail('conflict', `a ${report.status} report is not under review`);
    const rows = await rowsOf(ctx, report.id);
    const codes = await findMarkers(ctx, [...input.rows.flatMap(one => one.code ?? []), ...input.added.map(one => one.code)]);
    const accepted = decided(ctx, input, rows, codes);
    if (input.collectedAt != null)
      sayDrawn(
        ctx,
        report,
        accepted.map(one => one.row),
        input.collectedAt,
      );
    const added = input.added.map((one, index) => ({
      row: addedRow(ctx, report, rows.length + index, codes.get(one.code)!.code, {
        value: one.value,
        unit: one.unit,
        comparator: one.comparator ?? null,
      }),
      at: `/input/added/${index}`,
      person: true,
      confirmed: one.confirmed,
    }));
    if (report.collectedAt === null && accepted.length + added.length > 0)
      invalid('/input/collectedAt', 'is required: the report does not say');
    await storeRows(ctx, report, [...accepted, ...added], ctx.facts as Demographics | null);
    const all = [...rows, ...added.map(one => one.row)];
    ctx.audit('lab_report.reviewed', report.id, { accepted: accepted.length + added.length, open: openRows(all).length });
    if (openRows(all).length === 0 && all.length > 0) {
      moveReport(ctx, report, 'review');
      announceParsed(ctx, report, all);
    }
    return report;
  }
}
