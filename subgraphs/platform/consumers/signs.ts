import { collectionChanged } from '../../../events/catalogue/content.js';
import { userCreated } from '../../../events/catalogue/identity.js';
import { externalSyncCompleted } from '../../../events/catalogue/partner.js';
import { webhookReceived } from '../../../events/catalogue/webhooks.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { countUser, noteSign, renewPolicies } from '../commands/signs.js';

const synced = handle(externalSyncCompleted, (ctx: Context, event) => noteSign(ctx, event));
const received = handle(webhookReceived, (ctx: Context, event) => noteSign(ctx, event));

const joined = handle(userCreated, async (ctx: Context, { brand_id: brandId, occurred_at: at }) => {
  if (brandId !== null) await countUser(ctx, brandId, at);
});

const policies = handle(collectionChanged, async (ctx: Context, { brand_id: brandId, data }) => {
  if (data.collection === 'policies') await renewPolicies(ctx, brandId);
});

/** Source: platform 5. */
export const signConsumers: readonly Consumer<Context>[] = [
  { name: 'platform.signs', on: [synced, received, joined] },
  { name: 'platform.policies', on: [policies] },
];
