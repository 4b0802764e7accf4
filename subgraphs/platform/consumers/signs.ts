import { collectionChanged } from '../../../events/catalogue/content.js';
import { userCreated } from '../../../events/catalogue/identity.js';
import { externalSyncCompleted } from '../../../events/catalogue/partner.js';
import { webhookReceived } from '../../../events/catalogue/webhooks.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalidateBrands } from '../commands/invalidation.js';

const SEEN = `
  update platform.service set last_seen = last_seen || jsonb_build_object($2::text, greatest(last_seen->>$2, $3::text)) where slug = $1`;

type Sign = { source: string; type: string; occurred_at: string };

/** That a service has been heard of; a part of its health. */
const seen = (ctx: Context, { source, type, occurred_at: at }: Sign): Promise<unknown> => ctx.sql(SEEN, [source, type, at]);

const synced = handle(externalSyncCompleted, async (ctx: Context, event) => void (await seen(ctx, event)));
const received = handle(webhookReceived, async (ctx: Context, event) => void (await seen(ctx, event)));

const COUNT = `
  insert into platform.brand_user_count (brand_id, day, users) select b.id, $2::date, 1 from platform.brand b where b.id = $1
  on conflict (brand_id, day) do update set users = brand_user_count.users + 1`;

/** New accounts per brand and UTC day; a number, nobody's name. */
const joined = handle(userCreated, async (ctx: Context, { brand_id: brandId, occurred_at: at }) => {
  if (brandId !== null) await ctx.sql(COUNT, [brandId, at.slice(0, 10)]);
});

const NEXT_LEGAL = `
  update platform.brand set legal_version = legal_version + 1 where case when $1::uuid is null then status = 'active' else id = $1 end`;

/** A policy of a brand, or of all: consents that were given to another version are old. */
const policies = handle(collectionChanged, async (ctx: Context, { brand_id: brandId, data }) => {
  if (data.collection !== 'policies') return;
  await ctx.sql(NEXT_LEGAL, [brandId]);
  await invalidateBrands(ctx, brandId === null ? null : [brandId], ['legal']);
});

/** Source: platform 5. */
export const signConsumers: readonly Consumer<Context>[] = [
  { name: 'platform.signs', on: [synced, received, joined] },
  { name: 'platform.policies', on: [policies] },
];
