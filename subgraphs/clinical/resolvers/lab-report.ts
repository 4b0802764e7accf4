import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { uploadLabReport } from '../commands/lab-report.js';
import { reviewFacts, reviewLabReport } from '../commands/report-review.js';
import { LabReport, LabReportConnection, LabReportCounts, LabReportFile } from '../entities/lab-report.js';
import { ReportRow } from '../entities/report-row.js';
import { visibleRows } from '../entities/value-access.js';
import { MyLabReportsArgs, ReviewLabReportInput, UploadLabReportInput } from '../inputs/lab-report.js';
import { among, given } from '../queries/conditions.js';
import { linkTo, loadReportRows } from '../queries/lab-report.js';
import { readRow } from '../queries/read-audit.js';
import { countsOf } from '../rules/lab-report.js';

@Resolver(() => LabReport)
export class LabReportResolver {
  @Access({ user: 'read:lab_results' })
  @Query(() => LabReportConnection, { description: 'Own reports, newest first.' })
  myLabReports(@Args(() => MyLabReportsArgs) { status, ...paging }: MyLabReportsArgs, @Ctx() ctx: Context): Promise<Connection<LabReport>> {
    const where = { patientId: ctx.caller.userId!, ...given({ status: among(status) }) };
    return page(ctx.em, LabReport, where, paging, { time: 'createdAt' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:lab_results' })
  @Query(() => LabReport, { nullable: true, description: 'One report with its rows.' })
  labReport(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LabReport | null> {
    return readRow(ctx, 'lab_reports', LabReport, { id, ...visibleRows(ctx.caller) });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:lab_results' })
  @FieldResolver(() => LabReportFile, {
    nullable: true,
    description: 'A link to the file, good for 60 seconds; every link is audited. Null while it shows what is kept from the member.',
  })
  file(@Root() report: LabReport, @Ctx() ctx: Context): Promise<LabReportFile | null> {
    return linkTo(ctx, report);
  }

  @FieldResolver(() => [ReportRow])
  rows(@Root() report: LabReport, @Ctx() ctx: Context): Promise<ReportRow[]> {
    return loadReportRows(ctx, report.id);
  }

  @FieldResolver(() => LabReportCounts)
  async counts(@Root() report: LabReport, @Ctx() ctx: Context): Promise<LabReportCounts> {
    return countsOf(report, await loadReportRows(ctx, report.id));
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results', user: 'write:biomarkers', self: true })
  @Mutation(() => LabReport, {
    description: 'Takes a report to be read. The same file again: the report that is there; one that failed is read again.',
  })
  uploadLabReport(@Arg('input', () => UploadLabReportInput) input: UploadLabReportInput, @Ctx() ctx: Context): Promise<LabReport> {
    return uploadLabReport(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results', user: 'write:biomarkers' })
  @Prepare(reviewFacts)
  @Mutation(() => LabReport, { description: 'Accepts, edits or rejects rows that wait for a person; adds what no machine could read.' })
  reviewLabReport(@Arg('input', () => ReviewLabReportInput) input: ReviewLabReportInput, @Ctx() ctx: Context): Promise<LabReport> {
    return reviewLabReport(ctx, input, reviewFacts.of(ctx));
  }
}
