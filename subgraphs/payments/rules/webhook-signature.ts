import { SECOND_MS } from '../../../runtime/time/durations.js';

/** How far a call's time may be from ours, seconds. Source: payments 4.5. */
export const TOLERANCE_SECONDS = 300;
const MAX_HEADER = 2_048;

export interface WebhookSignature {
  /** As it was signed. */
  readonly timestamp: string;
  readonly seconds: number;
  /** `v1` values, lower-case hexadecimal. */
  readonly signatures: readonly string[];
}

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>]`; null for anything else. Source: payments 4.5. */
export function parseSignature(header: string | null): WebhookSignature | null {
  if (header === null || header.length > MAX_HEADER) return null;
  const parts = header.split(',').map(part => part.trim().split('=', 2) as [string, string | undefined]);
  const timestamps = parts.filter(([name]) => name === 't').map(([, value]) => value ?? '');
  const signatures = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? '')).map(([, value]) => value!);
  const timestamp = timestamps.length === 1 && /^\d{1,12}$/.test(timestamps[0]!) ? timestamps[0]! : null;
  return timestamp === null || signatures.length === 0 ? null : { timestamp, seconds: Number(timestamp), signatures };
}

/** Whether a call is neither too old nor from the future. */
export const isTimely = (seconds: number, now: Date): boolean =>
  Math.abs(Math.floor(now.getTime() / SECOND_MS) - seconds) <= TOLERANCE_SECONDS;
