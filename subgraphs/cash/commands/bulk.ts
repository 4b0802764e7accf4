import { z } from 'zod';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import { newId } from '../../../runtime/data/ids.js';
import { enqueue } from '../../../runtime/jobs/enqueue.js';
import { jobQueue } from '../../../runtime/jobs/queue.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { CashBulkGrant, CashBulkGrantResult } from '../entities/bulk.js';
import { CashBulkGrantOutcome } from '../entities/enums.js';
import type { GrantCashBulkInput } from '../inputs/grant.js';
import { openBook } from './book.js';
import { give, grantFor, termsOf } from './grant.js';

/** Users of one transaction: each holds a lock to its end. */
const CHUNK = 25;

const ADD = `
insert into cash.bulk_grant_user (id, bulk_grant_id, user_id, status, created_at)
select r.id, $2, r.user_id, 'pending', $3 from jsonb_to_recordset($1::jsonb) as r(id uuid, user_id uuid)
on conflict (bulk_grant_id, user_id) do nothing`;

const TAKE = `
select user_id from cash.bulk_grant_user where bulk_grant_id = $1 and status = 'pending' order by user_id limit ${CHUNK} for update skip locked`;

const { EXISTING, GRANTED, REFUSED } = CashBulkGrantOutcome;

async function outcomeFor(
  ctx: Context,
  campaign: CashBulkGrant,
  userId: string,
): Promise<Pick<CashBulkGrantResult, 'outcome' | 'grantId'>> {
  const { id, source, units, currency, reason, activatesAt, expiresAt, minSubtotal, subjectKinds, maxShareBps } = campaign;
  const book = await openBook(ctx, userId, currency);
  const origin = { userId, referenceType: 'campaign', referenceId: id, referenceKey: '' };
  const before = await grantFor(ctx, origin, { source, currency });
  if (before) return { outcome: before.units === units ? EXISTING : REFUSED, grantId: before.id };
  const terms = { source, units, currency, reason, activatesAt, expiresAt, minSubtotal, subjectKinds, maxShareBps };
  return { outcome: GRANTED, grantId: give(ctx, book, origin, terms).id };
}

/** Gives to the next users of a campaign; answers how many. Killed, it leaves them for the next attempt. */
async function giveChunk(ctx: Context, bulkGrantId: string): Promise<number> {
  const campaign = await requireRow(ctx, CashBulkGrant, { id: bulkGrantId });
  const users = await ctx.sql<{ user_id: string }>(TAKE, [bulkGrantId]);
  for (const { user_id: userId } of users) {
    const result = await outcomeFor(ctx, campaign, userId);
    await ctx.em.nativeUpdate(CashBulkGrantResult, { bulkGrantId, userId }, result);
  }
  return users.length;
}

/** Works campaigns off: what a run has given stays given, and the next one goes on behind it. Source: cash 4. */
export const bulkGrants = jobQueue('cash', {
  name: 'cash.bulk_grants',
  title: 'Grants of campaigns',
  payload: z.object({ campaign_id: z.uuid() }),
  concurrency: 1,
  run: async ({ host, payload, signal }) => {
    let given = 0;
    for (;;) {
      signal.throwIfAborted();
      const count = await host.transaction(ctx => giveChunk(ctx, payload.campaign_id));
      if (count === 0) return { given };
      given += count;
    }
  },
});

/** The campaign of an id, made now or before. @throws Problem idempotency_mismatch where it gives something else. */
async function campaignOf(ctx: Context, { campaignId, ...given }: Omit<GrantCashBulkInput, 'userIds'>): Promise<CashBulkGrant> {
  if (given.reason == null) invalid('/input/reason', 'is required');
  const terms = termsOf(ctx, given);
  const id = campaignId.toLowerCase();
  await ctx.sql(
    `insert into cash.bulk_grant (id, source, amount, currency, reason, activates_at, expires_at, min_subtotal, subject_kinds, max_share_bps, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (id) do nothing`,
    [
      id,
      terms.source,
      terms.units,
      terms.currency,
      terms.reason,
      terms.activatesAt.toISOString(),
      terms.expiresAt?.toISOString() ?? null,
      terms.minSubtotal,
      terms.subjectKinds,
      terms.maxShareBps,
      ctx.now().toISOString(),
    ],
  );
  const campaign = await lockRow(ctx, CashBulkGrant, { id });
  if (campaign.source !== terms.source || campaign.units !== terms.units || campaign.currency !== terms.currency)
    fail('idempotency_mismatch', 'This campaign gives something else');
  return campaign;
}

/** Takes a campaign on: each user gets one grant of it, however often it is asked for. */
export async function grantBulk(ctx: Context, input: GrantCashBulkInput): Promise<CashBulkGrant> {
  const { userIds, ...terms } = input;
  const campaign = await campaignOf(ctx, terms);
  const users = [...new Set(userIds.map(id => id.toLowerCase()))].map(userId => ({ id: newId(), user_id: userId }));
  await ctx.sql(ADD, [JSON.stringify(users), campaign.id, ctx.now().toISOString()]);
  await enqueue(ctx, bulkGrants, { campaign_id: campaign.id });
  ctx.audit('cash_bulk_grant.requested', campaign.id, { users: users.length, amount: campaign.units, currency: campaign.currency });
  return campaign;
}
