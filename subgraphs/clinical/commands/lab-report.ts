import { createHash } from 'node:crypto';
import { bloodworkUploaded } from '../../../events/catalogue/clinical.js';
import { newId } from '../../../runtime/data/ids.js';
import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { LabReport, LabReportSource as Source, LabReportStatus as Status } from '../entities/lab-report.js';
import { UploadLabReportInput } from '../inputs/lab-report.js';
import { embeddedDocuments } from '../ports/document-store.js';
import { lockUnerased, patientOf } from '../queries/patient.js';
import { type LabReportTrigger, REPORT_STATES } from '../rules/lab-report.js';
import { MOST_BYTES, type ReportType, sniff } from '../rules/report-file.js';

/** Moves a report that is locked with its patient. @throws Problem conflict. */
export function moveReport(ctx: Context, report: LabReport, trigger: LabReportTrigger): void {
  const from = report.status;
  report.status = move(REPORT_STATES, 'lab report', from, trigger);
  ctx.audit(`lab_report.${trigger}`, report.id, { from, to: report.status });
}

function sourceOf({ caller }: Context, patientId: string): Source {
  if (caller.kind === 'service') return caller.serviceSlug === 'labs' ? Source.LABS : Source.PARTNER;
  return isStaff(caller) && caller.userId !== patientId ? Source.STAFF : Source.MEMBER;
}

const UPLOADED_BY = {
  [Source.MEMBER]: 'member',
  [Source.STAFF]: 'staff',
  [Source.PARTNER]: 'partner',
  [Source.LABS]: 'partner',
} as const satisfies Record<Source, string>;

/** The bytes of an upload and their kind by content. @throws Problem invalid_request, payload_too_large, unsupported_media_type. */
function decoded(file: string): { bytes: Buffer; mimeType: ReportType } {
  const bytes = Buffer.from(file, 'base64');
  if (bytes.length > MOST_BYTES) fail('payload_too_large', 'A report has at most 20 MiB');
  if (bytes.toString('base64') !== file) invalid('/input/file', 'is not base64');
  const mimeType = sniff(bytes) ?? fail('unsupported_media_type', 'A report is a PDF, JPEG, PNG, HEIC, HL7 v2 message or FHIR Bundle');
  return { bytes, mimeType };
}

/** A report that failed is read again. */
function retry(ctx: Context, report: LabReport): LabReport {
  if (report.status !== Status.FAILED) return report;
  moveReport(ctx, report, 'retry');
  return Object.assign(report, { attempts: 0, failureCode: null, dueAt: ctx.now() });
}

function announceUpload(ctx: Context, { id, documentId, source, mimeType, patientId: userId }: LabReport): void {
  const data = { report_id: id, document_id: documentId, uploaded_by: UPLOADED_BY[source], page_count: null };
  ctx.emit(bloodworkUploaded, data, { userId });
  ctx.audit('lab_report.uploaded', id, { source, type: mimeType });
}

/** Takes a report to be read. The same file again: the report that is there. */
export async function uploadLabReport(ctx: Context, input: UploadLabReportInput): Promise<LabReport> {
  const patientId = patientOf(ctx, input.userId);
  const { bytes, mimeType } = decoded(input.file);
  await lockUnerased(ctx, patientId);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const before = await ctx.em.findOne(LabReport, { patientId, sha256 });
  if (before) return retry(ctx, before);
  const report = Object.assign(new LabReport(), {
    patientId,
    source: sourceOf(ctx, patientId),
    mimeType,
    sha256,
    documentId: newId(),
    performer: input.performer ?? null,
    createdAt: ctx.now(),
    dueAt: ctx.now(),
  });
  await embeddedDocuments.put(ctx, report.documentId, patientId, bytes);
  ctx.em.persist(report);
  announceUpload(ctx, report);
  return report;
}
