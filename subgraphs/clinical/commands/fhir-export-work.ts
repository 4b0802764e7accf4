import { LockMode } from '@mikro-orm/postgresql';
import type { Caller } from '../../../runtime/request/caller.js';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { ClinicalExportStatus as Status, FhirExport } from '../entities/fhir-export.js';
import { bundleFor, type Exported } from '../queries/fhir-bundle.js';
import { lockPatient } from '../queries/patient.js';

/** A copy of the record in one piece is kept no longer than it takes to fetch it. */
const KEPT_MS = 3_600_000;
/** An export that has not ended by then is taken over. */
const LEASE_MS = 120_000;
const AGAIN_MS = 10_000;
const MOST_ATTEMPTS = 3;

/** Who alone may read what was asked for. */
export const askerOf = (caller: Caller): string => (caller.kind === 'user' ? `user:${caller.userId}` : `service:${caller.clientId}`);

/** The export that runs already for this asker, else a new one, before which the asker's earlier ones of the same go. */
export async function startExport(ctx: Context, asked: Exported): Promise<FhirExport> {
  const wanted = { ...asked, asker: askerOf(ctx.caller) };
  return ctx.host.transaction(async tx => {
    await lockPatient(tx, asked.patientId);
    const running = await tx.em.findOne(FhirExport, { ...wanted, status: Status.RUNNING });
    if (running) return running;
    await tx.em.nativeDelete(FhirExport, wanted);
    const now = tx.now();
    const row = Object.assign(new FhirExport(), wanted, { dueAt: now, createdAt: now, expiresAt: new Date(now.getTime() + KEPT_MS) });
    tx.em.persist(row);
    tx.audit('fhir_export.requested', asked.patientId, { export: row.id });
    return row;
  }, ctx.request);
}

async function keep(ctx: Context, { id, patientId }: FhirExport, made: Awaited<ReturnType<typeof bundleFor>>): Promise<void> {
  await lockPatient(ctx, patientId);
  const row = await ctx.em.findOne(FhirExport, { id, status: Status.RUNNING }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!row) return; // erased meanwhile
  row.seal(ctx, made.bundle);
  Object.assign(row, { status: Status.COMPLETE, resourceCount: made.resourceCount, dueAt: row.expiresAt });
}

async function failed(ctx: Context, id: string, error: unknown): Promise<void> {
  const row = await ctx.em.findOne(FhirExport, { id, status: Status.RUNNING }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!row) return;
  const final = row.attempts >= MOST_ATTEMPTS;
  Object.assign(row, final ? { status: Status.FAILED, dueAt: row.expiresAt } : { dueAt: new Date(ctx.now().getTime() + AGAIN_MS) });
  ctx.log.warn({ export: id, attempts: row.attempts, err: loggedError(error) }, 'a FHIR export could not be made');
}

async function make(ctx: Context, row: FhirExport): Promise<void> {
  try {
    if (row.attempts > MOST_ATTEMPTS) throw new Error('its process ended each time');
    ctx.host.fault('fhir_export', row.id);
    const made = await ctx.host.read(reading => bundleFor(reading, row));
    await ctx.host.transaction(tx => keep(tx, row, made));
  } catch (error) {
    await ctx.host.transaction(tx => failed(tx, row.id, error));
  }
}

/** Makes exports outside any transaction, and deletes those whose time is over; a claim that its process did not end is taken over. */
export const exportTimer: Timer<Context> = {
  name: 'fhir_export',
  everySeconds: 2,
  next: async ctx => {
    const [row] = await ctx.sql<{ due: number | null }>(
      `select (extract(epoch from min(due_at)) * 1000)::float8 as due from ${ctx.schema}.fhir_export`,
    );
    return row?.due == null ? null : new Date(row.due);
  },
  run: async (ctx, at) => {
    const claimed = await ctx.em.find(FhirExport, { status: Status.RUNNING, dueAt: new Date(at.getTime() + LEASE_MS) });
    for (const row of claimed) await make(ctx, row);
  },
  claimed: {
    claim: async (ctx, at) => {
      const times = [at.toISOString(), new Date(at.getTime() + LEASE_MS).toISOString()];
      await ctx.sql(`delete from ${ctx.schema}.fhir_export where status <> 'running' and due_at <= $1`, times.slice(0, 1));
      await ctx.sql(
        `update ${ctx.schema}.fhir_export set due_at = $2, attempts = attempts + 1 where id in
           (select id from ${ctx.schema}.fhir_export where status = 'running' and due_at <= $1 order by due_at limit 1 for update skip locked)`,
        times,
      );
    },
    keep: async () => undefined,
    finish: async () => undefined,
  },
};
