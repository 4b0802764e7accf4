import { findRow } from '../../../runtime/data/rows.js';
import type { Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { ClinicalExport, ClinicalExportStatus, FhirExport } from '../entities/fhir-export.js';
import { hidesCritical, visibleRows } from '../entities/value-access.js';
import { bundleFor, type Exported } from './fhir-bundle.js';
import { auditRead } from './read-audit.js';

/** Who alone may read what was asked for. */
export const askerOf = (caller: Caller): string => (caller.kind === 'user' ? `user:${caller.userId}` : `service:${caller.clientId}`);

/** An export that is made afterwards, as it is by now. */
export function shownExport(ctx: Context, row: FhirExport): ClinicalExport {
  if (row.status === ClinicalExportStatus.RUNNING) ctx.status(202);
  return { id: row.id, status: row.status, resourceCount: row.resourceCount, bundle: row.open(ctx), expiresAt: row.expiresAt };
}

export async function exportAtOnce(ctx: Context, asked: Exported): Promise<ClinicalExport> {
  const made = await bundleFor(ctx, asked);
  await auditRead(ctx, 'fhir_export', [asked]);
  return { id: null, status: ClinicalExportStatus.COMPLETE, expiresAt: null, ...made };
}

/** An export of the caller's own asking, until an hour after that; null for any other. */
export async function findExport(ctx: Context, id: string): Promise<ClinicalExport | null> {
  const where = {
    id,
    asker: askerOf(ctx.caller),
    expiresAt: { $gt: ctx.now() },
    ...visibleRows(ctx.caller),
    ...(hidesCritical(ctx.caller) && { isMember: true }), // staff no longer
  };
  const row = await findRow(ctx, FhirExport, where, { populate: ['bundleSealed'] as never });
  if (row?.status === ClinicalExportStatus.COMPLETE) await auditRead(ctx, 'fhir_export', [row]);
  return row && shownExport(ctx, row);
}
