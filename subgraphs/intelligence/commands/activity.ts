import type { Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Values } from '../rules/values.js';
import { isErased, lockEntity } from '../queries/entity-lock.js';
import { openValues } from '../queries/features.js';
import { storeVector } from './features.js';

/** The feature set that this service keeps itself. */
const ACTIVITY = 'activity';

interface Row {
  sealed: Buffer;
  ms: number;
}

/** Counts an event about a user in the feature set `activity`: counters, bands and recency only. Source: intelligence 5. */
export async function countActivity(ctx: Context, event: Envelope<unknown>, key: string, bands: Values = {}): Promise<void> {
  const { user_id: userId } = event;
  if (userId === null) return;
  await lockEntity(ctx, userId);
  if (await isErased(ctx, userId)) return;
  const [row] = await ctx.sql<Row>(
    `select sealed, (extract(epoch from as_of) * 1000)::float8 as ms from ${ctx.schema}.feature_vector where entity_type = 'user' and entity_id = $1 and feature_set = $2 for update`,
    [userId, ACTIVITY],
  );
  const values = row ? openValues(ctx, 'user', userId, ACTIVITY, row.sealed) : {};
  const asOf = new Date(Math.max(Date.parse(event.occurred_at), row?.ms ?? 0));
  const counted = { ...values, [key]: Number(values[key] ?? 0) + 1, ...bands };
  await storeVector(ctx, {
    entityType: 'user',
    entityId: userId,
    set: ACTIVITY,
    version: 1,
    values: counted,
    asOf,
    sourceEventId: event.id,
  });
}
