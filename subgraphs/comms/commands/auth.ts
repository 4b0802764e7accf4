import type { Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import type { CommsChannel } from '../entities/enums.js';
import { ask } from './request.js';

/** Takes what identity asks to be sent: the address, the words and the secret come from it at each attempt. Source: comms 4.1. */
export async function authRequested(
  ctx: Context,
  event: Envelope,
  { challengeId, channel, expiresAt }: { challengeId: string; channel: CommsChannel; expiresAt: string },
): Promise<void> {
  await ask(ctx, {
    source: event.source,
    dedupeKey: `challenge:${challengeId}`,
    template: 'sign_in',
    recipientType: 'user',
    userId: event.user_id,
    brandId: event.brand_id,
    channels: [channel],
    params: { challenge_id: challengeId },
    expiresAt: new Date(expiresAt),
  });
}
