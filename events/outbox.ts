import { newId } from './envelope.js';
import type { DataOf, EventDefinition } from './define.js';
import { lastOfTransaction, prepared } from './prepared.js';
import type { Slug } from './slugs.js';

/** `$1`-style SQL inside the caller's transaction. */
export type Sql = <Row = Record<string, unknown>>(text: string, params?: readonly unknown[]) => Promise<Row[]>;

/** What an event is about: a user, or else a subject such as `brand:<id>`, which then orders it. */
export interface About {
  userId?: string | null;
  /** Only without a user; at most 128 characters; the type's name where nothing is given. */
  subject?: string | null;
  brandId?: string | null;
}

/** Who emits and why. Travels as columns and headers, never inside `data`. */
export interface EmitMeta {
  source: Slug;
  requestId: string | null;
  /** The event whose handler emits this one. */
  causationId: string | null;
  /** `user:<id>`, `service:<slug>`, `client:<id>` or `staff:<id>`. */
  actor: string;
  traceparent: string | null;
}

/** A validated event that waits for the end of its transaction. */
export interface PendingEvent {
  /** UUIDv7: the event id and every consumer's dedupe key. */
  id: string;
  type: string;
  schema_rev: number;
  user_id: string | null;
  subject: string | null;
  brand_id: string | null;
  source: Slug;
  /** JSON text, stored and forwarded byte for byte. */
  data: string;
  request_id: string | null;
  causation_id: string | null;
  actor: string;
  traceparent: string | null;
}

/** Longest `data`, bytes of JSON. Source: events catalogue 1, rule 2. */
export const MAX_DATA_BYTES = 65_536;
/** Longest `subject`, characters. Source: events 4, POST /v1/events. */
const MAX_SUBJECT = 128;

/**
 * Validates an event strictly and gives it its id.
 * @throws Error for a payload, user or emitter that the catalogue does not allow: a bug of the caller, which rolls its transaction back.
 */
export function prepareEvent<E extends EventDefinition>(event: E, data: DataOf<E>, about: About, meta: EmitMeta): PendingEvent {
  checkEmitter(event, meta.source);
  const userId = about.userId ?? null;
  checkUser(event, userId);
  return {
    id: newId(),
    type: event.name,
    schema_rev: event.revision,
    user_id: userId,
    subject: userId ? null : subjectOf(event, about),
    brand_id: about.brandId ?? null,
    source: meta.source,
    data: serialize(event, data),
    request_id: meta.requestId,
    causation_id: meta.causationId,
    actor: meta.actor,
    traceparent: meta.traceparent,
  };
}

function checkEmitter(event: EventDefinition, source: Slug): void {
  if (event.owner !== source && !event.emitters.includes(source)) throw new Error(`${event.name} is not emitted by ${source}`);
}

function checkUser(event: EventDefinition, userId: string | null): void {
  if (event.user === 'required' && !userId) throw new Error(`${event.name} needs a user`);
  if (event.user === 'none' && userId) throw new Error(`${event.name} has no user`);
}

function subjectOf(event: EventDefinition, about: About): string {
  const subject = about.subject ?? event.name;
  if (subject.length === 0 || subject.length > MAX_SUBJECT) throw new Error(`${event.name}: a subject has 1 to ${MAX_SUBJECT} characters`);
  return subject;
}

/** The JSON text of a payload that satisfies the newest revision. The error names keys and rules, never values. */
function serialize(event: EventDefinition, data: unknown): string {
  const { success, error } = event.schema.safeParse(data);
  if (!success)
    throw new Error(
      `${event.name}: data is invalid at ${error.issues.map(issue => `/${issue.path.join('/')} (${issue.code})`).join(', ')}`,
    );
  const text = JSON.stringify(data);
  if (Buffer.byteLength(text) > MAX_DATA_BYTES) throw new Error(`${event.name}: data is longer than ${MAX_DATA_BYTES} bytes`);
  return text;
}

const APPEND = 'select events.append($1::json, $2::timestamptz)';
const [APPEND_NOW, APPEND_LAST] = [prepared(APPEND), lastOfTransaction(APPEND)];

/**
 * Appends events to the log as the last statement before the commit: it takes the order locks, which the commit releases.
 * @param now null for the database's clock, else the manual clock's time of the emitting service.
 * @param isLast nothing but the commit follows.
 * @throws the database's error: 55P03 when an order lock is not had within 3 s, 42501 for a foreign emitter.
 */
export async function appendEvents(sql: Sql, events: readonly PendingEvent[], now: Date | null, isLast = false): Promise<void> {
  if (events.length === 0) return;
  await sql(isLast ? APPEND_LAST : APPEND_NOW, [JSON.stringify(events), now?.toISOString() ?? null]);
}
