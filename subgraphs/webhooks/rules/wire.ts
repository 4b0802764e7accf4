import { createHmac, randomBytes } from 'node:crypto';
import { settledSecrets, type SecretState } from './secrets.js';

/** What of an event is sent. `data` is JSON text, copied byte for byte. */
export interface SentEvent {
  id: string;
  type: string;
  userId: string;
  /** RFC 3339, UTC, ms. */
  occurredAt: string;
  data: string;
}

/**
 * The body, the same bytes on every attempt and replay of an event for one client: the specification's six keys in its order,
 * no added whitespace. Source: specification 1, event envelope; rule 1.
 */
export function bodyOf(event: SentEvent, clientId: string): Buffer {
  const head = JSON.stringify({
    id: event.id,
    type: event.type,
    user_id: event.userId,
    client_id: clientId,
    occurred_at: event.occurredAt,
  });
  return Buffer.from(`${head.slice(0, -1)},"data":${event.data}}`);
}

const SECRET_PREFIX = 'whsec_';

/** A new signing secret: `whsec_` and 32 random bytes in base64, 50 characters. Source: rule 21. */
export const newSecret = (): string => SECRET_PREFIX + randomBytes(32).toString('base64');

/** The last four characters, for lists. */
export const hintOf = (secret: string): string => secret.slice(-4);

/** 64 lower-case hex digits; the key is the whole secret as shown, its prefix included. Source: rule 2. */
export const signatureOf = (body: Buffer, secret: string): string => createHmac('sha256', secret).update(body).digest('hex');

/** Standard Webhooks 1: the key is what the base64 part of the secret decodes to. Source: rule 3. */
function standardSignature(id: string, timestamp: string, body: Buffer, secret: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** Secrets that are in force at one instant. */
export interface ActiveSecrets {
  current: string;
  previous: string | null;
  next: string | null;
}

export type StoredSecret = SecretState & { value: string };

/** Which secrets sign at `at`, ms. */
export function secretsAt(secrets: readonly StoredSecret[], at: number): ActiveSecrets {
  const settled = settledSecrets(secrets, at);
  const valueOf = (status: StoredSecret['status']) => settled.find(secret => secret.status === status)?.value ?? null;
  return { current: valueOf('current')!, previous: valueOf('previous'), next: valueOf('next') };
}

export interface CustomHeader {
  name: string;
  value: string;
}

/** Everything that decides the headers of one attempt. */
export interface Sending {
  event: SentEvent;
  body: Buffer;
  deliveryId: string;
  /** 1, 2, … per delivery. */
  attempt: number;
  replay: boolean;
  test?: boolean;
  secrets: ActiveSecrets;
  custom: readonly CustomHeader[];
  standardHeaders: boolean;
  /** Time of the attempt, ms. */
  at: number;
}

function standardHeadersOf({ event, body, secrets, at }: Sending): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const valid = [secrets.current, secrets.previous, secrets.next].filter(secret => secret !== null);
  return {
    'webhook-id': event.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': valid.map(secret => standardSignature(event.id, timestamp, body, secret)).join(' '),
  };
}

/** Headers of one attempt. Ours come last, so that no custom header can replace them. Source: rules 1-3. */
export function headersOf(sending: Sending): Record<string, string> {
  const { event, body, secrets } = sending;
  return {
    ...Object.fromEntries(sending.custom.map(({ name, value }) => [name, value])),
    'Content-Type': 'application/json',
    'User-Agent': 'Platform-Webhooks/1',
    'X-Platform-Event-Id': event.id,
    'X-Platform-Event-Type': event.type,
    'X-Platform-Delivery-Id': sending.deliveryId,
    'X-Platform-Delivery-Attempt': String(sending.attempt),
    'X-Platform-Signature': signatureOf(body, secrets.current),
    ...(secrets.previous !== null && { 'X-Platform-Signature-Previous': signatureOf(body, secrets.previous) }),
    ...(secrets.next !== null && { 'X-Platform-Signature-Next': signatureOf(body, secrets.next) }),
    ...(sending.replay && { 'X-Platform-Replay': 'true' }),
    ...(sending.test && { 'X-Platform-Test': 'true' }),
    ...(sending.standardHeaders && standardHeadersOf(sending)),
  };
}

/** Names that a custom header may not have: ours, and those that belong to the connection or the body. Source: section 2, headers. */
const RESERVED =
  /^(host|content-.*|transfer-.*|connection|x-platform-.*|webhook-.*|user-agent|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i;
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const VALUE = /^[\x20-\x7e]{0,1000}$/;

/** What is wrong with a custom header's name or value, null for nothing. */
export function headerViolation({ name, value }: CustomHeader): { field: 'name' | 'value'; message: string } | null {
  if (!TOKEN.test(name)) return { field: 'name', message: 'is not a header name of at most 100 characters' };
  if (RESERVED.test(name)) return { field: 'name', message: 'is reserved' };
  return VALUE.test(value) ? null : { field: 'value', message: 'must be at most 1000 printable ASCII characters' };
}
