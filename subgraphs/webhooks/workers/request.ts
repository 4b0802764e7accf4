import type { ServiceHost } from '../../../runtime/request/context.js';
import type { SubscriptionConfiguration } from '../commands/configuration.js';
import { dataContext } from '../commands/ingest.js';
import { sealerOf } from '../ports/sealer.js';
import { bodyOf, headersOf, secretsAt } from '../rules/wire.js';
import type { DueHead, EventBody } from './work.js';

/** Body and headers of an attempt, signed with what is in force at its beginning. @throws Error when the body cannot be opened. */
export function requestOf(
  host: ServiceHost,
  head: DueHead,
  { occurredAt, dataSealed }: EventBody,
  subscription: SubscriptionConfiguration,
  startedAt: Date,
): { body: Buffer; headers: Record<string, string> } {
  const data = sealerOf(host).open(dataSealed, dataContext(head.eventId));
  const event = { id: head.eventId, type: head.eventType, userId: head.userId, occurredAt, data };
  const body = bodyOf(event, head.clientId);
  const at = startedAt.getTime();
  const headers = headersOf({
    event,
    body,
    deliveryId: head.deliveryId,
    attempt: head.attemptCount + 1,
    replay: head.replayNo > 0,
    secrets: secretsAt(subscription.secrets, at),
    custom: subscription.headers,
    standardHeaders: subscription.standardHeaders,
    at,
  });
  return { body, headers };
}
