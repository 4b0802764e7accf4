import { webhookReceived } from '../../../events/catalogue/webhooks.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { digestOf } from './grants.js';
import type { InboundReceipt } from '../entities/inbound.js';
import { sealerOf } from '../ports/sealer.js';
import type { InboundCall } from '../ports/inbound-verifier.js';
import { findReceipt } from '../queries/inbound.js';
import { idsIn, INBOUND_SOURCES, textAt, type InboundSourceName } from '../rules/inbound.js';

/** How a body is bound to its receipt. */
export const inboundContext = (receiptId: string): string => `inbound_receipt.body:${receiptId}`;

/** Lengths that the event allows, characters. */
const MAX = { vendorEventId: 128, topic: 200, externalId: 128 } as const;

const INSERT = `
insert into webhooks.inbound_receipt (id, source, topic, vendor_event_id, external_id, status, received_at, body_size, body_sealed, subject_digests, emitted_event_id)
values ($1, $2, $3, $4, $5, 'accepted', $6, $7, $8, (select coalesce(array_agg(decode(d, 'hex')), '{}') from unnest($9::text[]) as t(d)), $10)
on conflict (source, vendor_event_id) do nothing returning id`;
const KNOWN = 'select id from webhooks.inbound_receipt where source = $1 and vendor_event_id = $2';
const RECEIVED = `
insert into webhooks.inbound_source (name, last_received_at) values ($1, $2)
on conflict (name) do update set last_received_at = greatest(inbound_source.last_received_at, excluded.last_received_at)`;
const REJECTED = `
insert into webhooks.inbound_rejection as r (source, hour, rejected) values ($1, date_trunc('hour', $2::timestamptz), 1)
on conflict (source, hour) do update set rejected = r.rejected + 1`;

/** What of a receipt the event and the row both hold. */
type ReceiptFacts = Pick<InboundReceipt, 'id' | 'source' | 'topic' | 'vendorEventId' | 'externalId' | 'receivedAt'>;

/** Appends `webhook.received.v1`; answers its id. */
function emitReceived(ctx: Context, { id, source, topic, vendorEventId, externalId, receivedAt }: ReceiptFacts): string {
  ctx.emit(
    webhookReceived,
    {
      receipt_id: id,
      source: source as InboundSourceName,
      topic,
      vendor_event_id: vendorEventId,
      external_id: externalId,
      received_at: receivedAt.toISOString(),
    },
    { subject: `inbound:${source}` },
  );
  return ctx.events.at(-1)!.id;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return fail('invalid_request', 'The body is not JSON');
  }
}

const lengthViolations = (value: string, max: number, name: string): Violation[] =>
  value.length === 0 || value.length > max ? [{ pointer: '', message: `${name}: 1 to ${max} characters` }] : [];

/** What the headers and the body hold. @throws Problem invalid_request listing what is missing. */
function read(source: InboundSourceName, { header, body }: InboundCall): Pick<ReceiptFacts, 'topic' | 'vendorEventId' | 'externalId'> {
  const { headers, topicPointer, externalIdPointer } = INBOUND_SOURCES[source];
  const json = parse(body);
  const vendorEventId = header(headers.delivery);
  const topic = header(headers.topic) || (textAt(json, topicPointer) ?? '');
  const errors = [
    ...lengthViolations(vendorEventId, MAX.vendorEventId, headers.delivery),
    ...lengthViolations(topic, MAX.topic, headers.topic),
  ];
  if (errors.length) fail('invalid_request', 'A header is missing', { errors });
  const externalId = textAt(json, externalIdPointer);
  return { vendorEventId, topic, externalId: externalId === null ? null : externalId.slice(0, MAX.externalId) };
}

/**
 * Stores a genuine call and appends its event in one transaction; the same vendor event again answers the same receipt and emits
 * nothing. Source: section 4, inbound.
 */
export async function acceptInboundWebhook(ctx: Context, source: InboundSourceName, call: InboundCall): Promise<string> {
  const facts = read(source, call);
  const receivedAt = ctx.now();
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 41))', [`${source} ${facts.vendorEventId}`]);
  const [known] = await ctx.sql<{ id: string }>(KNOWN, [source, facts.vendorEventId]);
  if (known) return known.id;
  const id = newId();
  const eventId = emitReceived(ctx, { id, source, receivedAt, ...facts });
  const text = call.body.toString('utf8');
  const digests = idsIn(text).map(one => digestOf(one).toString('hex'));
  const sealed = sealerOf(ctx.host).seal(text, inboundContext(id));
  const at = receivedAt.toISOString();
  await ctx.sql(INSERT, [id, source, facts.topic, facts.vendorEventId, facts.externalId, at, call.body.length, sealed, digests, eventId]);
  await ctx.sql(RECEIVED, [source, at]);
  ctx.audit('inbound_receipt.accepted', id, { source, topic: facts.topic });
  return id;
}

/** Counts a call that was refused. */
export const countRejected = (ctx: Context, source: InboundSourceName): Promise<unknown> =>
  ctx.sql(REJECTED, [source, ctx.now().toISOString()]);

/** Emits the event of a receipt again, with a new event id. @throws Problem forbidden, not_found. */
export async function replayReceipt(ctx: Context, id: string): Promise<InboundReceipt> {
  const receipt = (await findReceipt(ctx, id)) ?? fail('not_found', 'Not found');
  receipt.emittedEventId = emitReceived(ctx, receipt);
  receipt.status = 'replayed';
  ctx.audit('inbound_receipt.replayed', id, { event_id: receipt.emittedEventId });
  return receipt;
}
