import { writeAudit } from '../../../runtime/data/audit.js';
import type { Context } from '../../../runtime/request/context.js';
import type { LabReport } from '../entities/lab-report.js';

/** A link is good for so long, ms. Source: clinical 2, LabReport. */
const GOOD_MS = 60_000;
const PLACE = 'lab_report.link';

/** A link that only this service can make and read; who asked for it is audited. */
export async function linkTo(ctx: Context, report: LabReport): Promise<{ url: string; expiresAt: Date }> {
  const expiresAt = new Date(ctx.now().getTime() + GOOD_MS);
  const token = ctx.host.sealer.seal(JSON.stringify({ id: report.documentId, until: expiresAt.getTime() }), PLACE).toString('base64url');
  const audit = { action: 'lab_reports.file_read', target: report.patientId, details: { report: report.id } };
  await writeAudit(ctx.sql, ctx.schema, [audit], ctx.caller, ctx.request.id, ctx.now());
  return { url: `${ctx.host.config.baseUrl}/clinical/v1/bloodwork/files/${token}`, expiresAt };
}

/** The document that a link leads to; null when it is none or its time is over. */
export function documentOf(ctx: Context, token: string): string | null {
  try {
    const { id, until } = JSON.parse(ctx.host.sealer.open(Buffer.from(token, 'base64url'), PLACE)) as { id: string; until: number };
    return until > ctx.now().getTime() ? id : null;
  } catch {
    return null;
  }
}
