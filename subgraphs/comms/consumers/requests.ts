import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { messagingWebhookReceived, telephonyWebhookReceived } from '../../../events/catalogue/integrations.js';
import { handle, type Consumer, type Envelope, type Handler } from '../../../events/consumer.js';
import type { DataOf } from '../../../events/define.js';
import type { Context } from '../../../runtime/request/context.js';
import { vendorCalled, vendorFacts } from '../commands/vendor-calls.js';
import { ask } from '../commands/request.js';
import type { CommsChannel } from '../entities/enums.js';
import { care } from './care.js';
import { money } from './money.js';
import { people } from './people.js';

async function requested(ctx: Context, event: Envelope<DataOf<typeof messageSendRequested>>): Promise<void> {
  const { data } = event;
  const challengeId = data.params.challenge_id;
  await ask(ctx, {
    id: data.request_id,
    source: event.source,
    dedupeKey: data.dedupe_key,
    template: typeof challengeId === 'string' && data.template === 'email_undo' ? 'email_undo' : data.template,
    recipientType: data.recipient_type,
    userId: data.recipient_type === 'user' ? (data.recipient_id ?? event.user_id) : null,
    recipientId: data.recipient_id,
    brandId: event.brand_id,
    channels: data.channels as CommsChannel[],
    params: data.params,
    sendAfter: data.send_after ? new Date(data.send_after) : null,
    category: data.category,
  });
}

const asked: readonly Handler<Context>[] = [handle(messageSendRequested, requested)];

const vendors: readonly Handler<Context>[] = [
  handle(telephonyWebhookReceived, (ctx: Context, event) => vendorCalled(ctx, 'sms', event)),
  handle(messagingWebhookReceived, (ctx: Context, event) => vendorCalled(ctx, 'chat', event)),
];

/** Sixteen partitions: what one person is told keeps its order. Source: comms 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'comms.notify', partitions: 16, on: [...asked, ...care, ...money, ...people] },
  { name: 'comms.vendors', on: vendors, prepare: vendorFacts },
];
