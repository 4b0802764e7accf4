import { CATALOGUE } from '../../../events/catalogue.js';
import { adminScopeOf, type Slug } from '../../../events/slugs.js';
import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { WebhookAttempt } from '../entities/attempt.js';
import type { WebhookDelivery } from '../entities/delivery.js';
import type { InboundReceipt } from '../entities/inbound.js';
import { sealerOf } from '../ports/sealer.js';
import { managedClients, manages } from '../queries/managed.js';
import { INBOUND_SOURCES, isInboundSource } from '../rules/inbound.js';
import { bodyOf } from '../rules/wire.js';
import { bodyContext } from './attempts.js';
import { readGrantsOf } from './grants.js';
import { inboundContext } from './inbound.js';
import { dataContext } from './ingest.js';

/** Whether the caller holds the scope or read permission of the service whose data it is. Source: section 4, payload rule. */
function mayReadDataOf(ctx: Context, owner: Slug): boolean {
  const scope = adminScopeOf(owner);
  return mayAccess(ruleOf({ service: scope, staff: `${scope}:read` }), ctx.caller);
}

function mayReadType(ctx: Context, eventType: string): boolean {
  const definition = CATALOGUE.get(eventType);
  return definition !== undefined && mayReadDataOf(ctx, definition.owner);
}

/** Whether the user's grant to the client covers the type now. */
async function isGranted(ctx: Context, { userId, clientId, eventType }: WebhookDelivery): Promise<boolean> {
  const grants = await ctx.load('webhooks.grants', userId, users => readGrantsOf(ctx.sql, users));
  return grants?.get(clientId)?.scopes[CATALOGUE.get(eventType)?.scope ?? ''] !== undefined;
}

/** A machine client that manages the client sees what the client got; everybody else needs the permission of the type's owner. */
const showable = async (ctx: Context, delivery: WebhookDelivery): Promise<boolean> =>
  ((await managedClients(ctx)) !== null ? await manages(ctx, delivery.clientId) : mayReadType(ctx, delivery.eventType)) &&
  isGranted(ctx, delivery);

/** Reads of payloads are audited, one row each, committed before the payload is shown. Source: rule 22, must-not-happen 25. */
const audited = (ctx: Context, action: string, target: string): Promise<unknown> =>
  ctx.load(`webhooks.audit:${action}`, target, async targets => {
    await ctx.host.transaction(async own => targets.forEach(one => own.audit(action, one)), ctx.request);
    return targets.map(() => true);
  });

interface StoredBody {
  occurred_at: string;
  data_sealed: Buffer | null;
}

const BODY = `select to_char(occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at, data_sealed from webhooks.webhook_event where id = $1`;

/** The body as sent; null where the caller may not see it, after a revoked grant and after an erasure. */
export async function readPayload(ctx: Context, delivery: WebhookDelivery): Promise<unknown> {
  if (!(await showable(ctx, delivery))) return null;
  const [row] = await ctx.sql<StoredBody>(BODY, [delivery.eventId]);
  if (!row?.data_sealed) return null;
  await audited(ctx, 'webhook_delivery.payload_read', delivery.id);
  const data = sealerOf(ctx.host).open(row.data_sealed, dataContext(delivery.eventId));
  const event = { id: delivery.eventId, type: delivery.eventType, userId: delivery.userId, occurredAt: row.occurred_at, data };
  return JSON.parse(bodyOf(event, delivery.clientId).toString('utf8')) as unknown;
}

/** What a receiver answered, masked; null under the same rule as the payload. */
export async function readResponseBody(ctx: Context, attempt: WebhookAttempt, delivery: WebhookDelivery | null): Promise<string | null> {
  const shown = attempt.trigger === 'test' || (delivery !== null && (await showable(ctx, delivery))); // a test is about nobody
  if (!attempt.responseBodySealed || !shown) return null;
  await audited(ctx, 'webhook_attempt.response_read', attempt.id);
  return sealerOf(ctx.host).open(attempt.responseBodySealed, bodyContext(attempt.id));
}

/** What a vendor sent; null for who may not read the owner's data, and after an erasure. */
export async function readInboundBody(ctx: Context, { id, source, bodySealed }: InboundReceipt): Promise<unknown> {
  if (!bodySealed || !isInboundSource(source) || !mayReadDataOf(ctx, INBOUND_SOURCES[source].owner)) return null;
  await audited(ctx, 'inbound_receipt.body_read', id);
  return JSON.parse(sealerOf(ctx.host).open(bodySealed, inboundContext(id))) as unknown;
}
