import { CATALOGUE } from '../../../events/catalogue.js';
import { rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { WebhookAttempt } from '../entities/attempt.js';
import type { TestWebhookSubscriptionInput } from '../inputs/subscription.js';
import { HttpDeliverer, type Outcome } from '../ports/deliverer.js';
import { settingsOf } from '../ports/settings.js';
import { requireSubscription } from '../queries/subscriptions.js';
import { redactRequestHeaders } from '../rules/redaction.js';
import { exampleBody, NOBODY } from '../rules/sample.js';
import { bodyOf, headersOf, secretsAt } from '../rules/wire.js';
import { insertAttempts, type EndedAttempt } from './attempts.js';
import { configurationOf, type SubscriptionConfiguration } from './configuration.js';

/** Tests of one subscription and minute, per process. Source: section 4, test. */
const tests = rateLimitPerHost(10, MINUTE_MS);

/** Sends nothing but the example of a type, once, whatever the receiver answers. */
async function post(ctx: Context, url: string, headers: Record<string, string>, body: Buffer, timeoutMs: number): Promise<Outcome> {
  const deliverer = new HttpDeliverer({ egress: settingsOf(ctx.host).egress });
  try {
    return await deliverer.send({ url, headers, body, timeoutMs });
  } finally {
    await deliverer.close();
  }
}

/** The example of a type with a fresh id, about nobody, signed as a delivery is. */
function message(subscription: SubscriptionConfiguration, eventType: string, attemptId: string, at: Date) {
  const { data } = exampleBody(CATALOGUE.get(eventType)!, subscription.clientId);
  const event = { id: newId(), type: eventType, userId: NOBODY, occurredAt: at.toISOString(), data: JSON.stringify(data) };
  const body = bodyOf(event, subscription.clientId);
  const headers = headersOf({
    event,
    body,
    deliveryId: attemptId,
    attempt: 1,
    replay: false,
    test: true,
    secrets: secretsAt(subscription.secrets, at.getTime()),
    custom: subscription.headers,
    standardHeaders: subscription.standardHeaders,
    at: at.getTime(),
  });
  return { body, headers };
}

async function attempt(ctx: Context, subscription: SubscriptionConfiguration, eventType: string): Promise<EndedAttempt & { id: string }> {
  const id = newId();
  const startedAt = ctx.now();
  const began = performance.now();
  const { body, headers } = message(subscription, eventType, id, startedAt);
  const outcome = await post(ctx, subscription.url, headers, body, subscription.timeoutMs);
  return {
    id,
    deliveryId: null,
    subscriptionId: subscription.id,
    eventType,
    number: 1,
    trigger: 'test',
    startedAt,
    endedAt: after(startedAt, Math.round(performance.now() - began)),
    url: subscription.url,
    requestHeaders: redactRequestHeaders(headers, subscription.headers),
    outcome,
  };
}

/**
 * Sends a type's example to the endpoint once. No delivery is made: a test has no effect on health or circuit, and cannot be replayed.
 * @throws Problem invalid_request, not_found, rate_limited. Source: section 4, test; acceptance 25.
 */
export async function testSubscription(ctx: Context, { id, eventType }: TestWebhookSubscriptionInput): Promise<WebhookAttempt> {
  const { eventTypes } = await requireSubscription(ctx, id);
  if (!eventTypes.includes(eventType)) invalid('/input/eventType', 'is not in the filter');
  ctx.count(tests, id);
  await configurationOf(ctx.host).refresh(ctx.sql);
  const ended = await attempt(ctx, configurationOf(ctx.host).get(id) ?? fail('not_found', 'Not found'), eventType);
  await ctx.host.transaction(async own => {
    await insertAttempts(own.sql, own.host, [ended]);
    own.audit('webhook_subscription.tested', id, { event_type: eventType, status_code: ended.outcome.statusCode });
  }, ctx.request);
  return ctx.em.findOneOrFail(WebhookAttempt, { id: ended.id, startedAt: ended.startedAt });
}
