import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { CommerceSyncJob, type CommerceSyncFailure } from '../entities/sync.js';
import type { CommerceSyncsArgs } from '../inputs/sync.js';
import type { StorefrontPage, StorefrontQuery } from '../ports/storefront-port.js';

/** Runs, newest first. */
export const syncsPage = (ctx: Context, { kind, status, ...paging }: CommerceSyncsArgs): Promise<Connection<CommerceSyncJob>> =>
  page(ctx.em, CommerceSyncJob, { ...(kind && { kind }), ...(status && { status }) }, paging, { time: 'createdAt' });

/** Failures that a run shows; the counts know all. */
const SHOWN = 100;

const FAILURES = `select of.id as "jobId", f.external_id as "externalId", f.entity_id as "entityId", f.code from unnest($1::uuid[]) of(id)
cross join lateral (select * from commerce.commerce_sync_failure where job_id = of.id order by id limit ${SHOWN}) f`;

/** What of a run was left out or failed, in a batch with that of all others that are asked for. */
export const failuresOf = async (ctx: Context, jobId: string): Promise<CommerceSyncFailure[]> =>
  (await ctx.load('commerce.syncFailures', jobId, async ids => {
    const rows = await ctx.sql<CommerceSyncFailure & { jobId: string }>(FAILURES, [ids]);
    return ids.map(id => rows.filter(one => one.jobId === id));
  })) ?? [];

const BUYERS_ON_A_PAGE = 50;

const BUYERS = `select distinct user_id as "userId" from commerce.shop_order
where brand_id = $1 and user_id > $2 and placed_at is not null and not is_erased and ($3::uuid[] is null or user_id = any($3))
  and ($4::timestamptz is null or placed_at >= $4)
order by user_id limit ${BUYERS_ON_A_PAGE + 1}`;

const FIRST = '00000000-0000-0000-0000-000000000000';

/** Members who have bought of a brand, by their ids. */
export async function buyersPage(
  ctx: Context,
  { brandId, cursor, ids, since }: StorefrontQuery,
): Promise<StorefrontPage<{ userId: string }>> {
  const rows = await ctx.sql<{ userId: string }>(BUYERS, [
    brandId,
    cursor ?? FIRST,
    ids?.filter(isUuid) ?? null,
    since?.toISOString() ?? null,
  ]);
  const records = rows.slice(0, BUYERS_ON_A_PAGE);
  return { records, next: rows.length > BUYERS_ON_A_PAGE ? records.at(-1)!.userId : null };
}
