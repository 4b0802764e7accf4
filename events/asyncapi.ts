/**
 * AsyncAPI 3.0 documents of the catalogue: one of all types, one for each service. Channels are the routing keys of the bus; the document of the
 * webhooks service also shows what outside subscribers get by HTTP.
 */
import type { EventDefinition } from './define.js';
import { exampleOf, jsonSchemaOf } from './json-schema.js';
import { SLUGS, type Slug } from './slugs.js';

export type AsyncApiDocument = Readonly<Record<string, unknown>>;

/** The draft that every AsyncAPI reader must know. */
const SCHEMA_FORMAT = 'application/schema+json;version=draft-07';
const ref = (...path: string[]): { $ref: string } => ({ $ref: `#/${path.join('/')}` });
const named = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> => Object.fromEntries(entries);

const SERVERS = {
  bus: {
    host: 'localhost:5672',
    protocol: 'amqp',
    protocolVersion: '0.9.1',
    title: 'RabbitMQ',
    description: 'The broker of AMQP_URL; without one the embedded transport gives the same guarantees in PostgreSQL.',
    security: [ref('components', 'securitySchemes', 'broker')],
  },
};

const RECEIVER = {
  host: '{host}',
  pathname: '/{path}',
  protocol: 'https',
  title: "A subscriber's endpoint",
  variables: {
    host: { default: 'app.example.com', description: "Host of the subscription's URL" },
    path: { default: 'hooks', description: 'Its path' },
  },
};

const EXCHANGE = { name: 'platform.events', type: 'topic', durable: true, autoDelete: false };

const text = (description: string, more: object = {}): object => ({ type: 'string', description, ...more });

const BUS_HEADERS = {
  type: 'object',
  required: [
    'x-seq',
    'x-order-key',
    'x-slot',
    'x-schema-rev',
    'x-replay',
    'cloudEvents:id',
    'cloudEvents:source',
    'cloudEvents:type',
    'cloudEvents:time',
  ],
  properties: {
    'x-seq': { type: 'integer', description: 'Place in the log; increasing along one order key' },
    'x-order-key': text('u:<user id> or s:<subject>; events of one key arrive in order'),
    'x-slot': { type: 'integer', minimum: 0, maximum: 63, description: 'Slot of the order key; first word of the routing key' },
    'x-schema-rev': { type: 'integer', minimum: 1, description: 'Schema revision that the event was written with' },
    'x-brand-id': text('Brand concerned', { format: 'uuid' }),
    'x-request-id': text('Request that caused it'),
    'x-causation-id': text('Event whose handler emitted this one', { format: 'uuid' }),
    'x-replay': text('0, or the replay job that sent it again'),
    traceparent: text('W3C trace context'),
    'cloudEvents:specversion': { const: '1.0' },
    'cloudEvents:id': text('Event id: dedupe on it', { format: 'uuid' }),
    'cloudEvents:source': text('/services/<emitting service>'),
    'cloudEvents:type': text('Event type'),
    'cloudEvents:time': text('When it happened', { format: 'date-time' }),
    'cloudEvents:subject': text('User concerned'),
  },
};

const WEBHOOK_HEADERS = {
  type: 'object',
  required: [
    'X-Platform-Event-Id',
    'X-Platform-Event-Type',
    'X-Platform-Delivery-Id',
    'X-Platform-Delivery-Attempt',
    'X-Platform-Signature',
  ],
  properties: {
    'X-Platform-Event-Id': text('Event id: dedupe on it', { format: 'uuid' }),
    'X-Platform-Event-Type': text('Event type'),
    'X-Platform-Delivery-Id': text('Delivery', { format: 'uuid' }),
    'X-Platform-Delivery-Attempt': text('1, 2, … per delivery', { pattern: '^[1-9][0-9]*$' }),
    'X-Platform-Signature': text('HMAC-SHA256 of the raw body with the whole secret string, hex', { pattern: '^[0-9a-f]{64}$' }),
    'X-Platform-Replay': text('true on a replay'),
    'X-Platform-Test': text('true on a test'),
  },
};

const COMPONENTS = {
  channelBindings: { bus: { amqp: { is: 'routingKey', exchange: EXCHANGE, bindingVersion: '0.3.0' } } },
  securitySchemes: { broker: { type: 'userPassword', description: 'Internal: credentials of AMQP_URL' } },
  parameters: { slot: { description: 'Slot of the order key, two digits: 00 to 63' } },
};

/** What readers of schemas cannot see: who may send it, who may be shown it, how it is ordered. */
const factsOf = ({ owner, emitters, user, scope, sensitive, revision, deprecated }: EventDefinition): object => ({
  owner,
  ...(emitters.length > 0 && { emitters }),
  user,
  order_key: user === 'none' ? 'subject' : 'user_id',
  scope,
  sensitive,
  revision,
  ...(deprecated && { deprecated }),
});

const messageOf = (event: EventDefinition, headers: string): object => ({
  name: event.name,
  title: event.name,
  summary: event.when,
  contentType: 'application/json',
  tags: [{ name: event.owner }, ...(event.scope ? [{ name: event.scope }] : [])],
  headers: ref('components', 'schemas', headers),
  payload: { schemaFormat: SCHEMA_FORMAT, schema: payloadOf(event) },
  examples: event.examples.map(data => ({ payload: exampleOf(event, data) })),
  'x-platform': factsOf(event),
});

/** Inside of a document `schemaFormat` names the draft, and the message has the examples. */
function payloadOf(event: EventDefinition): object {
  const { $schema: _, examples: __, ...schema } = jsonSchemaOf(event, 'draft-07');
  return schema;
}

const channelOf = ({ name, when }: EventDefinition): object => ({
  address: `s{slot}.${name}`,
  description: when,
  servers: [ref('servers', 'bus')],
  parameters: { slot: ref('components', 'parameters', 'slot') },
  messages: { event: ref('components', 'messages', name) },
  bindings: ref('components', 'channelBindings', 'bus'),
});

const operation = (action: 'send' | 'receive', slug: Slug, { name }: EventDefinition): readonly [string, object] => [
  `${slug}.${action}.${name}`,
  { action, channel: ref('channels', name), tags: [{ name: slug }] },
];

/** The services that may emit a type, owner first. */
const sendersOf = ({ owner, emitters }: EventDefinition): readonly Slug[] => [owner, ...emitters.filter(slug => slug !== owner)];

interface Bus {
  events: readonly EventDefinition[];
  operations: readonly (readonly [string, object])[];
}

const document = (title: string, description: string, { events, operations }: Bus): AsyncApiDocument => ({
  asyncapi: '3.0.0',
  info: { title, version: '1.0.0', description },
  defaultContentType: 'application/json',
  servers: SERVERS,
  channels: named(events.map(event => [event.name, channelOf(event)])),
  operations: named(operations),
  components: {
    ...COMPONENTS,
    schemas: { busHeaders: BUS_HEADERS },
    messages: named(events.map(event => [event.name, messageOf(event, 'busHeaders')])),
  },
});

const GUARANTEES =
  'At least once, in commit order per user (or per subject where no user is concerned); dedupe on `id`. Payloads hold identifiers, codes, counts, times and money, never health values, contact data or secrets.';

const IMPLIED = 'Not listed: analytics receives every type but its own, webhooks every type with a scope.';

const byName = (a: EventDefinition, b: EventDefinition): number => (a.name < b.name ? -1 : 1);

/** All types, who sends them and who has a handler of its own for them. */
export function unifiedAsyncApi(catalogue: Iterable<EventDefinition>): AsyncApiDocument {
  const events = [...catalogue].sort(byName);
  const operations = events.flatMap(event => [
    ...sendersOf(event).map(slug => operation('send', slug, event)),
    ...event.consumers.map(slug => operation('receive', slug, event)),
  ]);
  const description = `Every event of the platform. ${GUARANTEES} ${IMPLIED}`;
  return document('Platform Service Suite: events', description, { events, operations });
}

/** What one service sends and receives; null for one without events. */
function serviceAsyncApi(slug: Slug, catalogue: Iterable<EventDefinition>): AsyncApiDocument | null {
  const all = [...catalogue].sort(byName);
  const operations = all.flatMap(event => [
    ...(sendersOf(event).includes(slug) ? [operation('send', slug, event)] : []),
    ...(event.consumers.includes(slug) ? [operation('receive', slug, event)] : []),
  ]);
  if (operations.length === 0) return null;
  const events = all.filter(event => [...sendersOf(event), ...event.consumers].includes(slug));
  const bus = document(`${slug}: events`, `What ${slug} sends to and receives from the event bus. ${GUARANTEES} ${IMPLIED}`, {
    events,
    operations,
  });
  return slug === 'webhooks'
    ? withDeliveries(
        bus,
        all.filter(({ scope }) => scope !== null),
      )
    : bus;
}

/** The webhook view: a POST to the subscriber with the same envelope and `client_id`. */
function withDeliveries(bus: AsyncApiDocument, scoped: readonly EventDefinition[]): AsyncApiDocument {
  const { servers, channels, operations, components } = bus as Record<string, Record<string, object>>;
  const delivery = (event: EventDefinition): readonly [string, object] => [`webhook.${event.name}`, deliveryOf(event)];
  return {
    ...bus,
    servers: { ...servers, receiver: RECEIVER },
    channels: {
      ...channels,
      webhook: {
        address: null,
        title: 'Webhook delivery',
        description: 'A signed POST to the URL of the subscription; one event of a user at a time. Success is a status of 200 to 299.',
        servers: [ref('servers', 'receiver')],
        messages: named(scoped.map(({ name }) => [name, ref('components', 'messages', `webhook.${name}`)])),
      },
    },
    operations: {
      ...operations,
      'webhooks.deliver': {
        action: 'send',
        channel: ref('channels', 'webhook'),
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      ...components,
      schemas: { ...components!.schemas, webhookHeaders: WEBHOOK_HEADERS },
      messages: { ...components!.messages, ...named(scoped.map(delivery)) },
    },
  };
}

/** What outside subscribers get: deliveries of every type with a scope, nothing of the bus. */
export function deliveriesAsyncApi(catalogue: Iterable<EventDefinition>): AsyncApiDocument {
  const scoped = [...catalogue].filter(({ scope }) => scope !== null).sort(byName);
  const title = 'Platform Service Suite: webhooks';
  const whole = withDeliveries(document(title, `What subscribers get by webhook. ${GUARANTEES}`, { events: [], operations: [] }), scoped);
  const { servers, components } = whole as Record<string, Record<string, object>>;
  return {
    ...whole,
    servers: { receiver: servers!.receiver },
    components: { schemas: { webhookHeaders: WEBHOOK_HEADERS }, messages: components!.messages },
  };
}

function deliveryOf(event: EventDefinition): object {
  const message = messageOf(event, 'webhookHeaders') as { payload: { schema: { required: string[] } }; examples: { payload: object }[] };
  const { schema } = message.payload;
  return {
    ...message,
    payload: { ...message.payload, schema: { ...schema, required: [...schema.required, 'client_id'] } },
    examples: message.examples.map(({ payload }) => ({ payload: { ...payload, client_id: 'your-client-id' } })),
  };
}

/** File name -> document: `asyncapi` for all, else the service. */
export const asyncApiDocuments = (catalogue: ReadonlyMap<string, EventDefinition>): ReadonlyMap<string, AsyncApiDocument> =>
  new Map([
    ['asyncapi', unifiedAsyncApi(catalogue.values())] as const,
    ...SLUGS.flatMap(slug => {
      const found = serviceAsyncApi(slug, catalogue.values());
      return found ? [[slug, found] as const] : [];
    }),
  ]);
