import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, HOUR_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { ClinicalExport, ClinicalExportStatus as Status, FhirExport } from '../entities/fhir-export.js';
import { bundleFor, countResources, type Exported } from '../queries/fhir-bundle.js';
import { askerOf, exportAtOnce, shownExport } from '../queries/fhir-export.js';
import { lockPatient } from '../queries/patient.js';

/** A copy of the record in one piece is kept no longer than it takes to fetch it. */
const KEPT_MS = HOUR_MS;
const AGAIN_MS = 10 * SECOND_MS;
const MOST_ATTEMPTS = 3;

/** The export that runs already for this asker, else a new one, before which the asker's earlier ones of the same go. */
async function startExport(ctx: Context, asked: Exported): Promise<FhirExport> {
  const wanted = { ...asked, asker: askerOf(ctx.caller) };
  return ctx.host.transaction(async tx => {
    await lockPatient(tx, asked.patientId);
    const running = await tx.em.findOne(FhirExport, { ...wanted, status: Status.RUNNING });
    if (running) return running;
    await tx.em.nativeDelete(FhirExport, wanted);
    const now = tx.now();
    const row = Object.assign(new FhirExport(), wanted, { dueAt: now, createdAt: now, expiresAt: after(now, KEPT_MS) });
    tx.em.persist(row);
    tx.audit('fhir_export.requested', asked.patientId, { export: row.id });
    return row;
  }, ctx.request);
}

async function keep(ctx: Context, { id, patientId }: FhirExport, made: Awaited<ReturnType<typeof bundleFor>>): Promise<void> {
  await lockPatient(ctx, patientId);
  const row = await ctx.em.findOne(FhirExport, { id, status: Status.RUNNING }, FOR_UPDATE);
  if (!row) return; // erased meanwhile
  row.seal(ctx, made.bundle);
  Object.assign(row, { status: Status.COMPLETE, resourceCount: made.resourceCount, dueAt: row.expiresAt });
}

async function failed(ctx: Context, id: string, error: unknown): Promise<void> {
  const row = await ctx.em.findOne(FhirExport, { id, status: Status.RUNNING }, FOR_UPDATE);
  if (!row) return;
  const final = row.attempts >= MOST_ATTEMPTS;
  Object.assign(row, final ? { status: Status.FAILED, dueAt: row.expiresAt } : { dueAt: after(ctx.now(), AGAIN_MS) });
  ctx.log.warn({ export: id, attempts: row.attempts, err: loggedError(error) }, 'a FHIR export could not be made');
}

/** Makes an export that was claimed, outside any transaction. */
export async function makeExport(ctx: Context, row: FhirExport): Promise<void> {
  try {
    if (row.attempts > MOST_ATTEMPTS) throw new Error('its process ended each time');
    ctx.host.fault('fhir_export', row.id);
    const made = await ctx.host.read(reading => bundleFor(reading, row));
    await ctx.host.transaction(tx => keep(tx, row, made));
  } catch (error) {
    await ctx.host.transaction(tx => failed(tx, row.id, error));
  }
}

/** A larger export is made afterwards. Source: clinical 4, FHIR export. */
const MOST_AT_ONCE = 1000;

/** Clinical's part of a person's record; above 1,000 resources it is made afterwards. */
export const exportRecord = async (ctx: Context, asked: Exported): Promise<ClinicalExport> =>
  (await countResources(ctx, asked)) > MOST_AT_ONCE ? shownExport(ctx, await startExport(ctx, asked)) : exportAtOnce(ctx, asked);
