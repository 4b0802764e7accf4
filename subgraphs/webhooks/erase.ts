import { randomUUID } from 'node:crypto';
import { CATALOGUE } from '../../events/catalogue.js';
import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { digestOf, lockUser } from './commands/grants.js';
import { closeOpen } from './commands/lanes.js';
import { grantSourceOf } from './ports/grant-source.js';

/** Event types of class PHI. */
const sensitiveTypes = (): string[] => [...CATALOGUE.values()].filter(type => type.sensitive).map(type => type.name);

const count = async (ctx: Context, text: string, values: readonly unknown[]): Promise<number> =>
  (await ctx.sql(`${text} returning 1`, values)).length;

/** Deletes what vendors sent about a user: bodies that hold the id. Their digests go with them. */
const eraseInbound = (ctx: Context, userId: string): Promise<number> =>
  count(ctx, `update webhooks.inbound_receipt set body_sealed = null, subject_digests = '{}' where subject_digests @> array[$1::bytea]`, [
    digestOf(userId.toLowerCase()),
  ]);

/** Ends what is open and deletes bodies: what was to be sent, and what receivers answered. */
async function eraseBodies(ctx: Context, userId: string, eventTypes: readonly string[] | undefined): Promise<Record<string, number>> {
  const types = eventTypes ?? null;
  return {
    webhook_delivery: await closeOpen(ctx.sql, { userId, eventTypes, to: { status: 'cancelled', reason: 'user_erased' }, now: ctx.now() }),
    webhook_event: await count(
      ctx,
      `update webhooks.webhook_event set data_sealed = null where user_id = $1 and data_sealed is not null and ($2::text[] is null or type = any($2))`,
      [userId, types],
    ),
    inbound_receipt: eventTypes ? 0 : await eraseInbound(ctx, userId),
    webhook_attempt: await count(
      ctx,
      `update webhooks.webhook_attempt a set response_body_sealed = null, response_headers = null from webhooks.webhook_delivery d
      where d.user_id = $1 and a.delivery_id = d.id and ($2::text[] is null or d.event_type = any($2)) and (a.response_body_sealed is not null or a.response_headers is not null)`,
      [userId, types],
    ),
  };
}

/** One random id replaces the user's everywhere and is kept nowhere else, so that counts stay and nobody is identifiable. Source: rule 24. */
async function replaceUser(ctx: Context, userId: string): Promise<Record<string, number>> {
  const tombstone = randomUUID();
  const deliveries = await count(ctx, 'update webhooks.webhook_delivery set user_id = $2 where user_id = $1', [userId, tombstone]);
  await count(ctx, 'update webhooks.webhook_event set user_id = $2 where user_id = $1', [userId, tombstone]);
  await ctx.sql(
    `update webhooks.webhook_job set filter = filter || jsonb_build_object('userId', $2::text) where filter->>'userId' = $1::text`,
    [userId, tombstone],
  );
  const grants = await count(ctx, 'delete from webhooks.grant_projection where user_id = $1', [userId]);
  await ctx.sql('insert into webhooks.erased_user (user_digest, erased_at) values ($1, $2) on conflict (user_digest) do nothing', [
    digestOf(userId),
    ctx.now().toISOString(),
  ]);
  return { webhook_delivery: deliveries, grant_projection: grants };
}

/**
 * Full: bodies go, open deliveries end, the user's id is replaced, and nothing that still arrives is delivered. Health: the same
 * for health data, without the id. Marketing: nothing of that kind is here. Source: section 5, rule 24.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope === 'marketing') return { outcome: 'nothing_held', records: {} };
  await lockUser(ctx.sql, userId);
  const bodies = await eraseBodies(ctx, userId, scope === 'health' ? sensitiveTypes() : undefined);
  if (scope === 'health') return { outcome: 'erased', records: bodies };
  const replaced = await replaceUser(ctx, userId);
  ctx.afterCommit(() => grantSourceOf(ctx.host).forget(userId));
  return { outcome: 'anonymised', records: { ...bodies, ...replaced } };
}
