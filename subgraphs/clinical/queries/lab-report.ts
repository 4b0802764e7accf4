import { writeAudit } from '../../../runtime/data/audit.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { LabReport } from '../entities/lab-report.js';
import { ReportRow } from '../entities/report-row.js';
import { embeddedDocuments } from '../ports/document-store.js';

/** A link is good for so long. Source: clinical 2, LabReport. */
const GOOD_MS = MINUTE_MS;
/** What the sealed bytes of a link are bound to. */
const CONTEXT = 'lab_report.link';

/** A link that only this service can make and read; who asked for it is audited. */
export async function linkTo(ctx: Context, report: LabReport): Promise<{ url: string; expiresAt: Date }> {
  const expiresAt = after(ctx.now(), GOOD_MS);
  const token = ctx.host.sealer.seal(JSON.stringify({ id: report.documentId, until: expiresAt.getTime() }), CONTEXT).toString('base64url');
  const audit = { action: 'lab_reports.file_read', target: report.patientId, details: { report: report.id } };
  await writeAudit(ctx.sql, ctx.schema, [audit], ctx.caller, ctx.request.id, ctx.now());
  return { url: `${ctx.host.config.baseUrl}/clinical/v1/bloodwork/files/${token}`, expiresAt };
}

/** The document that a link leads to; null when it is none or its time is over. */
function documentOf(ctx: Context, token: string): string | null {
  try {
    const { id, until } = JSON.parse(ctx.host.sealer.open(Buffer.from(token, 'base64url'), CONTEXT)) as { id: string; until: number };
    return until > ctx.now().getTime() ? id : null;
  } catch {
    return null;
  }
}

/** Rows of a report in its order, in the request's batch. */
export async function loadReportRows(ctx: Context, reportId: string): Promise<ReportRow[]> {
  const rows = await ctx.load('report.rows', reportId, async ids => {
    const found = await ctx.em.find(ReportRow, { reportId: { $in: [...ids] } }, { orderBy: { position: 'asc' } });
    return ids.map(id => found.filter(row => row.reportId === id));
  });
  return rows ?? [];
}

/** The bytes that a link leads to; null when it is none or its time is over. */
export async function fileOf(ctx: Context, token: string): Promise<{ bytes: Buffer; type: string } | null> {
  const id = documentOf(ctx, token);
  const report = id && (await ctx.em.findOne(LabReport, { documentId: id }));
  const bytes = report && (await embeddedDocuments.get(ctx, report.documentId));
  return bytes ? { bytes, type: report.mimeType } : null;
}
