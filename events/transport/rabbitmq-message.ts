import type { ConsumeMessage, Message, Options } from 'amqplib';
import { newId, parseBody, type Envelope, type OutboxRow } from '../envelope.js';
import type { Delivery, ReplayMark } from './port.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Properties and headers of an event, with the names of the CloudEvents 1.0 AMQP binding beside ours. */
export function propertiesOf(row: OutboxRow, replay: ReplayMark | null): Options.Publish {
  return {
    messageId: row.id,
    type: row.type,
    timestamp: Math.floor(Date.parse(row.occurred_at) / 1000),
    appId: row.source,
    contentType: 'application/json',
    persistent: true,
    mandatory: true,
    headers: present({
      'x-seq': row.seq,
      'x-order-key': row.order_key,
      'x-slot': row.slot,
      'x-schema-rev': row.schema_rev,
      'x-brand-id': row.brand_id,
      'x-request-id': row.request_id,
      'x-causation-id': row.causation_id,
      'x-replay': replay?.id ?? '0',
      'x-replay-mode': replay?.mode ?? null,
      traceparent: row.traceparent,
      'cloudEvents:specversion': '1.0',
      'cloudEvents:id': row.id,
      'cloudEvents:source': `/services/${row.source}`,
      'cloudEvents:type': row.type,
      'cloudEvents:time': row.occurred_at,
      'cloudEvents:subject': row.user_id,
    }),
  };
}

const present = (headers: Record<string, string | number | null>): Record<string, string | number> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string | number] => entry[1] !== null));

/** How often the queue handed the message out before. */
const deliveriesOf = (message: Message): number => Number(message.properties.headers?.['x-delivery-count'] ?? 0);

/** A message as a delivery. One that is none of ours keeps what can be known of it, so that it can be filed. */
export function deliveryOf(message: ConsumeMessage, stale: () => boolean): Delivery {
  const headers = message.properties.headers ?? {};
  const body = parseBody(message.content.toString('utf8'));
  const malformed = problemOf(message, body);
  const slot = Number(headers['x-slot']);
  return {
    event: malformed ? strangerOf(message) : { ...body!, ...metaOf(message) },
    malformed,
    slot: slot >= 0 && slot < 64 ? slot : 0,
    deliveries: deliveriesOf(message),
    queued: false,
    rerun: headers['x-replay-mode'] === 'rerun',
    erased: false,
    stale,
  };
}

function problemOf(message: ConsumeMessage, body: ReturnType<typeof parseBody>): string | null {
  const headers = message.properties.headers ?? {};
  if (!body) return 'the body is no envelope';
  if (!UUID.test(body.id)) return 'the id is no UUID';
  if (!Number.isSafeInteger(headers['x-seq']) || typeof headers['x-order-key'] !== 'string' || !Number.isInteger(headers['x-slot']))
    return 'order headers are missing';
  return null;
}

type Meta = Omit<Envelope, 'id' | 'type' | 'user_id' | 'occurred_at' | 'data' | 'data_text'>;

function metaOf({ properties }: ConsumeMessage): Meta {
  const headers = properties.headers ?? {};
  const text = (name: string): string | null => (typeof headers[name] === 'string' ? headers[name] : null);
  const replay = text('x-replay');
  return {
    seq: Number(headers['x-seq'] ?? 0),
    order_key: text('x-order-key') ?? 's:malformed',
    schema_rev: Number(headers['x-schema-rev'] ?? 1),
    source: String(properties.appId ?? 'unknown'),
    brand_id: text('x-brand-id'),
    request_id: text('x-request-id'),
    causation_id: text('x-causation-id'),
    traceparent: text('traceparent'),
    replay_id: replay && UUID.test(replay) ? replay : null,
  };
}

function strangerOf(message: ConsumeMessage): Envelope {
  const { messageId, type } = message.properties;
  const id = typeof messageId === 'string' && UUID.test(messageId) ? messageId : newId();
  const meta = metaOf(message);
  return {
    id,
    type: typeof type === 'string' ? type : 'unknown',
    user_id: null,
    occurred_at: '',
    data: null,
    data_text: 'null',
    ...meta,
    seq: Number.isSafeInteger(meta.seq) ? meta.seq : 0,
  };
}
