import { CATALOGUE } from '../../../events/catalogue.js';
import type { EventDefinition } from '../../../events/define.js';
import { dataSchemaOf } from '../../../events/json-schema.js';
import { checkAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import type { WebhookEventType } from '../entities/event-type.js';
import { READERS } from '../entities/subscription.js';
import type { WebhookEventTypesArgs } from '../inputs/event-type.js';
import { askClient } from '../ports/grant-source.js';
import { clientViolation, typeViolation, type ClientFacts } from '../rules/filter.js';
import { exampleBody, signedSample } from '../rules/sample.js';
import { checkManages } from './managed.js';

type Scoped = EventDefinition & { scope: string };

const isScoped = (type: EventDefinition | undefined): type is Scoped => type !== undefined && type.scope !== null;

/** Types with a scope by name; the others never leave the platform. */
const SCOPED: readonly Scoped[] = [...CATALOGUE.values()].filter(isScoped).sort((a, b) => (a.name < b.name ? -1 : 1));

/** A type that may leave the platform; null for any other. */
export function scopedType(name: string): Scoped | null {
  const type = CATALOGUE.get(name);
  return isScoped(type) ? type : null;
}

export const isGranted = (scope: string, client: ClientFacts | null): boolean => client?.scopes.includes(scope) ?? false;

function shown(type: Scoped, clientId: string | null, client: ClientFacts | null): WebhookEventType {
  const { name, when, scope, sensitive, deprecated } = type;
  const example = exampleBody(type, clientId);
  return {
    name,
    description: when,
    scope,
    sensitive,
    granted: isGranted(scope, client),
    subscribable: client !== null && typeViolation(type, client) === null,
    jsonSchema: dataSchemaOf(type),
    example,
    sampleSignature: signedSample(example),
    deprecatedAt: deprecated ? new Date(deprecated.at) : null,
  };
}

function matches({ name, when, scope }: Scoped, { scope: wanted, q }: WebhookEventTypesArgs): boolean {
  const text = `${name} ${when}`.toLowerCase();
  return (wanted == null || scope === wanted) && (q == null || text.includes(q.toLowerCase()));
}

/** Facts of a client; null for an unknown one. @throws Problem insufficient_scope for a caller who manages none; not_found. */
async function factsOf(ctx: Context, clientId: string): Promise<ClientFacts | null> {
  checkAccess(ruleOf(READERS), ctx.caller);
  await checkManages(ctx, clientId);
  return ctx.load('webhooks.client', clientId, ids => Promise.all(ids.map(id => askClient(ctx.federation, id))));
}

/** Facts of a client that may have subscriptions; null for one that may not. @throws Problem insufficient_scope, not_found. */
export async function subscriberOf(ctx: Context, clientId: string): Promise<ClientFacts | null> {
  const client = await factsOf(ctx, clientId);
  return clientViolation(client) ? null : client;
}

/** Facts of the named client. @throws Problem insufficient_scope, not_found; invalid_request for one that may not have subscriptions. */
async function clientOf(ctx: Context, clientId: string | null | undefined): Promise<ClientFacts | null> {
  if (clientId == null) return null;
  const client = await factsOf(ctx, clientId);
  const unfit = clientViolation(client);
  return unfit ? invalid('/clientId', unfit) : client;
}

/** Event types that can be subscribed to, by name. */
export async function listEventTypes(ctx: Context, args: WebhookEventTypesArgs): Promise<Connection<WebhookEventType>> {
  const client = await clientOf(ctx, args.clientId);
  const after = args.after ? String(decodeCursor(args.after, 1)[0]) : '';
  const types = SCOPED.filter(type => type.name > after && matches(type, args)).slice(0, args.first + 1);
  const nodes = types.map(type => shown(type, args.clientId ?? null, client));
  return toConnection(nodes, args.first, type => [type.name]);
}

/** One of them; null also for a type that never leaves the platform. */
export async function eventTypeOf(ctx: Context, name: string, clientId: string | null | undefined): Promise<WebhookEventType | null> {
  const client = await clientOf(ctx, clientId);
  const type = scopedType(name);
  return type && shown(type, clientId ?? null, client);
}
