import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { CommerceSyncStatus } from '../entities/enums.js';
import { CommerceSyncJob } from '../entities/sync.js';
import type { StartCommerceSyncInput } from '../inputs/sync.js';
import { brandOf } from '../ports/brands.js';
import { storefrontOf } from '../ports/storefront.js';

const { QUEUED, RUNNING, CANCELLED } = CommerceSyncStatus;
const OPEN: readonly CommerceSyncStatus[] = [QUEUED, RUNNING];

/** The brand of a run. */
export const syncBrand = preparation(async (ctx: Context, { input }: { input: StartCommerceSyncInput }) => {
  const brand = await brandOf(ctx.host, { id: input.brandId, fallbackId: ctx.caller.brandId });
  if (!storefrontOf(ctx.host).serves(brand)) fail('conflict', 'The brand has no shop at the storefront', { reason: 'no_storefront' });
  return brand;
});

/** Two that start at once wait for each other. Source: commerce 7.27. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended($1, 46))`;

/** Asks for a run, which a timer makes. @throws Problem conflict while one of this kind and brand is under way. Source: commerce 4.1. */
export async function startSync(ctx: Context, input: StartCommerceSyncInput): Promise<CommerceSyncJob> {
  const { kind, dryRun: isDryRun, since = null, limit: most = null, ids = null } = input;
  const { id: brandId } = syncBrand.of(ctx);
  await ctx.sql(LOCK, [`${kind}:${brandId}`]);
  if (await ctx.em.findOne(CommerceSyncJob, { kind, brandId, status: { $in: OPEN } }))
    fail('conflict', 'Such a run is under way', { reason: 'sync_running' });
  const times = { dueAt: ctx.now(), createdAt: ctx.now() };
  const job = Object.assign(new CommerceSyncJob(), { kind, brandId, isDryRun, since, most, ids, ...times });
  await ctx.em.persist(job).flush();
  ctx.audit('sync.started', job.id, { kind, dryRun: isDryRun });
  return job;
}

/** What it has seen goes with it; what it has taken over stays. */
export async function endSync(ctx: Context, job: CommerceSyncJob, status: CommerceSyncStatus): Promise<void> {
  Object.assign(job, { status, dueAt: null, finishedAt: ctx.now() });
  await ctx.em.flush();
  await ctx.sql('delete from commerce.commerce_sync_record where job_id = $1', [job.id]);
  const { seen, failed } = job.counts;
  ctx.audit('sync.ended', job.id, { status, seen, failed });
}

/** Stops a run before its next record. @throws Problem not_found, conflict. */
export async function cancelSync(ctx: Context, id: string): Promise<CommerceSyncJob> {
  const job = await lockRow(ctx, CommerceSyncJob, { id: id.toLowerCase() }, 'No such run');
  if (!OPEN.includes(job.status)) fail('conflict', 'The run is over', { reason: 'sync_over' });
  await endSync(ctx, job, CANCELLED);
  return job;
}
