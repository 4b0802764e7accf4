import { TOLERANCE_SECONDS } from '../../rules/webhook-signature.js';
import type { HeaderReader, NoticeRefusal, ProcessorNotice, ProcessorObject } from '../processor.js';
import { stripePackage } from './package.js';

/** Kind of object by the `object` of what an event is about. */
const KINDS: Readonly<Record<string, ProcessorObject>> = {
  payment_intent: 'charge',
  refund: 'refund',
  dispute: 'dispute',
  payout: 'payout',
};

/** `charge.refunded` and its like speak of the charge of an intent. */
function objectOf(data: unknown): ProcessorNotice['object'] {
  const { object, id, payment_intent } = (data ?? {}) as Record<string, unknown>;
  if (object === 'charge') return typeof payment_intent === 'string' ? { kind: 'charge', id: payment_intent } : null;
  const kind = KINDS[String(object)];
  return kind && typeof id === 'string' ? { kind, id } : null;
}

/** Header and bytes signed by the secret, at a time that is near ours. */
function isSigned(rawBody: Buffer, header: string, secret: string, now: Date): boolean {
  try {
    return stripePackage().webhooks.signature!.verifyHeader(rawBody, header, secret, TOLERANCE_SECONDS, undefined, now.getTime());
  } catch {
    return false;
  }
}

function timestampOf(header: string): number {
  return Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(header)?.[1] ?? Number.NaN);
}

/** The package refuses what is too old; what is from the future is refused here. */
const isTimely = (header: string, now: Date): boolean =>
  Math.abs(Math.floor(now.getTime() / 1000) - timestampOf(header)) <= TOLERANCE_SECONDS;

export function verifyNotice(
  rawBody: Buffer,
  header: HeaderReader,
  secrets: readonly string[],
  now: Date,
): ProcessorNotice | NoticeRefusal {
  const signature = header('stripe-signature') ?? '';
  const genuine = secrets.map(secret => isSigned(rawBody, signature, secret, now));
  if (!genuine.includes(true) || !isTimely(signature, now)) return 'signature';
  return noticeOf(rawBody) ?? 'malformed';
}

export function noticeOf(rawBody: Buffer): ProcessorNotice | null {
  try {
    const event = JSON.parse(rawBody.toString('utf8')) as Record<string, any>;
    if (typeof event.id !== 'string' || typeof event.type !== 'string' || !Number.isSafeInteger(event.created)) return null;
    return { id: event.id, type: event.type, object: objectOf(event.data?.object), createdAt: new Date(event.created * 1000) };
  } catch {
    return null;
  }
}
