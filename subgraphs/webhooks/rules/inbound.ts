import { createHmac } from 'node:crypto';
import type { InboundScheme } from '../entities/enums.js';

/** How a vendor's calls are recognised and proven. Source: section 4, inbound. */
export interface InboundSourceSetting {
  scheme: InboundScheme;
  headers: { signature: string; delivery: string; topic: string; timestamp: string | null };
  /** Seconds by which the timestamp may differ; null: the scheme has none. */
  toleranceSeconds: number | null;
  /** JSON pointers into the body: the topic where the header is missing, and the vendor's id of the thing. */
  topicPointer: string;
  externalIdPointer: string;
  /** Whose data the bodies are: that service's scope or read permission opens them. */
  owner: 'commerce' | 'content' | 'identity';
}

const TIMED = {
  scheme: 'hex_timestamp_body',
  headers: { signature: 'X-Signature', delivery: 'X-Delivery-Id', topic: 'X-Topic', timestamp: 'X-Timestamp' },
  toleranceSeconds: 300,
  topicPointer: '/topic',
  externalIdPointer: '/id',
} as const;

export const INBOUND_SOURCES = {
  storefront: {
    scheme: 'base64_body',
    headers: {
      signature: 'X-Storefront-Signature',
      delivery: 'X-Storefront-Delivery',
      topic: 'X-Storefront-Topic',
      timestamp: null,
    },
    toleranceSeconds: null,
    topicPointer: '/topic',
    externalIdPointer: '/id',
    owner: 'commerce',
  },
  crm_sync: { ...TIMED, owner: 'identity' },
  cms: { ...TIMED, owner: 'content' },
} as const satisfies Record<string, InboundSourceSetting>;

export type InboundSourceName = keyof typeof INBOUND_SOURCES;

export const isInboundSource = (name: string): name is InboundSourceName => Object.hasOwn(INBOUND_SOURCES, name);

/** What has to stand in the signature header under one secret. */
export function inboundSignature(scheme: InboundScheme, secret: string, body: Buffer, timestamp: string): string {
  const hmac = createHmac('sha256', secret);
  return scheme === 'base64_body' ? hmac.update(body).digest('base64') : hmac.update(`${timestamp}.`).update(body).digest('hex');
}

/** Whether a timestamp (seconds since 1970) lies within the tolerance of `now`, ms. */
export function isTimely(timestamp: string, toleranceSeconds: number | null, now: number): boolean {
  if (toleranceSeconds === null) return true;
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds;
}

/** The text or whole number at a JSON pointer (RFC 6901) of a body; null for anything else. */
export function textAt(body: unknown, pointer: string): string | null {
  const found = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined),
      body,
    );
  if (typeof found === 'string') return found;
  return Number.isSafeInteger(found) ? String(found) : null;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Every id in a body, each once, in lower case: one of them may be a user's. */
export const idsIn = (text: string): string[] => [...new Set((text.match(UUID) ?? []).map(id => id.toLowerCase()))].slice(0, 1000);
