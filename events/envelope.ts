import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';

/** An event as a handler sees it: the public envelope, and the metadata that travels beside it. */
export interface Envelope<Data = unknown> {
  /** UUIDv7, the dedupe key. */
  id: string;
  type: string;
  user_id: string | null;
  /** RFC 3339, UTC, ms. Never decreases along one order key. */
  occurred_at: string;
  data: Data;
  /** `data` as the emitter wrote it, byte for byte. */
  data_text: string;
  /** Number in the log, increasing along one order key. */
  seq: number;
  /** `u:<user id>` or `s:<subject>`. */
  order_key: string;
  schema_rev: number;
  source: string;
  brand_id: string | null;
  request_id: string | null;
  causation_id: string | null;
  traceparent: string | null;
  /** Replay job that sent it again; null for the first time. */
  replay_id: string | null;
}

/** A row of the log, as the relay reads it. */
export interface OutboxRow {
  id: string;
  seq: number;
  order_key: string;
  /** `hashtextextended(order_key, 0) & 63`. */
  slot: number;
  type: string;
  schema_rev: number;
  user_id: string | null;
  subject: string | null;
  brand_id: string | null;
  source: string;
  /** RFC 3339, UTC, ms. */
  occurred_at: string;
  /** JSON text. */
  data: string;
  request_id: string | null;
  causation_id: string | null;
  traceparent: string | null;
}

/** The inbox's replay id of an event that is not a replay. */
export const NO_REPLAY = '00000000-0000-0000-0000-000000000000';

/** 64 slots, never changed: partitions divide them. */
export const SLOTS = 64;

/** Columns of an outbox row as text and numbers, so that no driver re-parses time or JSON. `o` is the outbox. */
export const OUTBOX_COLUMNS = `o.id, o.seq::float8 as seq, o.order_key, o.slot, o.type, o.schema_rev, o.user_id, o.subject, o.brand_id, o.source,
  to_char(o.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at, o.data::text as data, o.request_id, o.causation_id, o.traceparent`;

/** The message body: the envelope without `client_id`. `data` stands last and is copied, not re-serialised. */
export const bodyOf = (row: OutboxRow): string =>
  `${JSON.stringify({ id: row.id, type: row.type, user_id: row.user_id, occurred_at: row.occurred_at }).slice(0, -1)}${DATA_MARK}${row.data}}`;

const DATA_MARK = ',"data":';

/** The envelope of a log row. */
export function envelopeOf(row: OutboxRow, replayId: string | null): Envelope {
  const { id, type, user_id, occurred_at, seq, order_key, schema_rev, source, brand_id, request_id, causation_id, traceparent } = row;
  const meta = { seq, order_key, schema_rev, source, brand_id, request_id, causation_id, traceparent, replay_id: replayId };
  return { id, type, user_id, occurred_at, data: JSON.parse(row.data), data_text: row.data, ...meta };
}

/** The public part of a message body; null when it is not one of ours. */
export function parseBody(body: string): Pick<Envelope, 'id' | 'type' | 'user_id' | 'occurred_at' | 'data' | 'data_text'> | null {
  try {
    const { id, type, user_id, occurred_at, data } = JSON.parse(body);
    if (typeof id !== 'string' || typeof type !== 'string' || typeof occurred_at !== 'string' || data === undefined) return null;
    return { id, type, user_id: user_id ?? null, occurred_at, data, data_text: body.slice(body.indexOf(DATA_MARK) + DATA_MARK.length, -1) };
  } catch {
    return null;
  }
}

/** Milliseconds since the epoch at which a UUIDv7 was made, by the system clock of its maker. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The smallest UUIDv7 of an instant, ms since the epoch (RFC 9562): ids from it on were made then or later. */
export const firstIdAt = (ms: number): string => {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

/** The system's clock as it was at the start: a manual one shows through `Date.now`, and one id of the future would drag all later ones along. */
export const systemNow = Date.now.bind(Date);
let last = { msecs: 0, seq: 0 };

/** A new identifier: UUIDv7 by the system's clock, each after the one before it. Source: conventions 3. */
export function newId(): string {
  const msecs = systemNow();
  last = msecs > last.msecs ? { msecs, seq: randomInt(2 ** 30) } : { ...last, seq: last.seq + 1 };
  return v7(last);
}
