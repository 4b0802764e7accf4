import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { ReconciliationStatus as Status } from '../entities/enums-operations.js';
import { ReconciliationDiscrepancy, ReconciliationRun } from '../entities/reconciliation.js';
import type { ReconcileProcessorStorefrontInput } from '../inputs/operations.js';
import { gatherLegs, totalsOf } from '../queries/reconciliation-legs.js';
import { compare, type Comparison, type Discrepancy } from '../rules/reconciliation.js';

const LONGEST_MS = 31 * DAY_MS;

/** The period that is asked for: the last day unless it says otherwise. @throws Problem invalid_request. */
function periodOf(ctx: Context, { from, to }: ReconcileProcessorStorefrontInput): { from: Date; to: Date } {
  const until = to ?? after(ctx.now(), 1); // what happened just now is in it
  const since = from ?? after(until, -DAY_MS);
  if (since >= until) invalid('/input/from', 'must be before `to`');
  if (until.getTime() - since.getTime() > LONGEST_MS) invalid('/input/from', 'must be at most 31 days before `to`');
  return { from: since, to: until };
}

/** Asks for a comparison, which a worker makes. @throws Problem conflict while one of the brand is running. Source: payments 4.4. */
export async function requestReconciliation(ctx: Context, input: ReconcileProcessorStorefrontInput): Promise<ReconciliationRun> {
  const { from, to } = periodOf(ctx, input);
  const { brandId } = ctx.caller;
  if (await ctx.em.findOne(ReconciliationRun, { brandId, status: Status.RUNNING }))
    fail('conflict', 'A reconciliation is running', { reason: 'reconciliation_running' });
  const run = Object.assign(new ReconciliationRun(), {
    brandId,
    fromAt: from,
    toAt: to,
    currency: input.currency ?? null,
    includeLedger: input.includeLedger,
    workAt: ctx.now(),
    startedAt: ctx.now(),
  });
  ctx.em.persist(run);
  ctx.audit('reconciliation.requested', run.id, { from: from.toISOString(), to: to.toISOString() });
  return run;
}

/** Makes a comparison: reads all sides, outside any transaction, and writes what does not agree. A repeat writes the same anew. */
export async function runReconciliation(host: ServiceHost, id: string): Promise<void> {
  try {
    const run = await host.read(ctx => requireRow(ctx, ReconciliationRun, { id }));
    const legs = await gatherLegs(host, run);
    const [comparison, totals] = [compare(legs), totalsOf(legs, run.currency)];
    await host.transaction(ctx => finish(ctx, id, comparison, totals));
  } catch (error) {
    host.log.error({ err: loggedError(error), run: id }, 'a reconciliation failed');
    await host.transaction(ctx => giveUp(ctx, id));
  }
}

async function finish(ctx: Context, id: string, comparison: Comparison, totals: Partial<ReconciliationRun>): Promise<void> {
  const run = await lockRow(ctx, ReconciliationRun, { id });
  if (run.status !== Status.RUNNING) return;
  for (const one of comparison.discrepancies) ctx.em.persist(rowOf(ctx, id, one));
  const { compared, matched } = comparison;
  Object.assign(run, totals, { compared, matched, status: Status.COMPLETED, finishedAt: ctx.now(), workAt: null });
  ctx.audit('reconciliation.completed', id, { compared, matched, discrepancies: comparison.discrepancies.length });
}

function rowOf(ctx: Context, runId: string, { expected, actual, ...one }: Discrepancy): ReconciliationDiscrepancy {
  return Object.assign(new ReconciliationDiscrepancy(), {
    ...one,
    runId,
    expectedMinor: expected,
    actualMinor: actual,
    detectedAt: ctx.now(),
  });
}

async function giveUp(ctx: Context, id: string): Promise<void> {
  const run = await lockRow(ctx, ReconciliationRun, { id });
  if (run.status !== Status.RUNNING) return;
  Object.assign(run, { status: Status.FAILED, finishedAt: ctx.now(), workAt: null });
  ctx.audit('reconciliation.failed', id);
}
