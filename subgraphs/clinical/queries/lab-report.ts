import { writeAudit } from '../../../runtime/data/audit.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { LabReport } from '../entities/lab-report.js';
import { ReportRow } from '../entities/report-row.js';
import { hidesCritical, isHidden } from '../entities/value-access.js';
import { embeddedDocuments } from '../ports/document-store.js';

/** A link is good for so long. Source: clinical 2, LabReport. */
const GOOD_MS = MINUTE_MS;
/** What the sealed bytes of a link are bound to. */
const CONTEXT = 'lab_report.link';

/** What a link says, sealed. */
interface Link {
  id: string;
  until: number;
  /** It is a member's, who does not see everything yet. */
  isMember: boolean;
}

/** Whether the file shows what is kept from the member by now: a result of one of its rows, or what nobody has judged. */
async function isKept(ctx: Context, report: LabReport): Promise<boolean> {
  const rows = await loadReportRows(ctx, report.id);
  const times = await Promise.all(rows.map(row => row.hiddenUntil(ctx)));
  return [report.unjudgedUntil(), ...times].some(hiddenUntil => isHidden({ hiddenUntil }, ctx.now()));
}

/** A link that only this service can make and read, null while the file is kept from the caller; who asked for it is audited. */
export async function linkTo(ctx: Context, report: LabReport): Promise<{ url: string; expiresAt: Date } | null> {
  const isMember = hidesCritical(ctx.caller);
  if (isMember && (await isKept(ctx, report))) return null;
  const expiresAt = after(ctx.now(), GOOD_MS);
  const link: Link = { id: report.documentId, until: expiresAt.getTime(), isMember };
  const token = ctx.host.sealer.seal(JSON.stringify(link), CONTEXT).toString('base64url');
  const audit = { action: 'lab_reports.file_read', target: report.patientId, details: { report: report.id } };
  await writeAudit(ctx, [audit]);
  return { url: `${ctx.host.config.baseUrl}/clinical/v1/bloodwork/files/${token}`, expiresAt };
}

/** What a link says; null when it is none or its time is over. */
function linkOf(ctx: Context, token: string): Link | null {
  const sealed = Buffer.from(token, 'base64url');
  if (sealed.toString('base64url') !== token) return null; // one spelling for each link: the decoder drops what it cannot use
  try {
    const link = JSON.parse(ctx.host.sealer.open(sealed, CONTEXT)) as Link;
    return link.until > ctx.now().getTime() ? link : null;
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

/** The bytes that a link leads to; null when it is none, its time is over, or a member's file has come to be kept from it meanwhile. */
export async function fileOf(ctx: Context, token: string): Promise<{ bytes: Buffer; type: string } | null> {
  const link = linkOf(ctx, token);
  const report = link && (await ctx.em.findOne(LabReport, { documentId: link.id }));
  if (report && link.isMember && (await isKept(ctx, report))) return null;
  const bytes = report && (await embeddedDocuments.get(ctx, report.documentId));
  return bytes ? { bytes, type: report.mimeType } : null;
}
