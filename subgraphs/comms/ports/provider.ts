import type { CommsChannel } from '../entities/enums.js';

/** What leaves, filled in; only in memory, and sealed where `capture` keeps it. */
export interface Rendered {
  messageId: string;
  userId: string | null;
  headers: Readonly<Record<string, string>>;
  from: string;
  subject: string;
  text: string;
  html: string | null;
  attachments: readonly { filename: string; content: string; contentType: string }[];
  push: { title: string; body: string; deepLink: string; badge: number; ttlSeconds: number; urgent: boolean } | null;
}

/** Where it goes: an address, a number, or a device. */
export type Target = { address: string } | { device: { id: string; endpoint: string; p256dh: string; auth: string } };

export type Outcome =
  | { kind: 'accepted'; ref: string | null }
  | { kind: 'transient'; code: string; retryAfterMs?: number }
  /** Handed over, and no answer: it may have been sent. */
  | { kind: 'unknown'; code: string }
  | { kind: 'permanent'; code: string; bounced: boolean; invalid: boolean };

/** Sends by one channel. An outcome is never thrown. */
export interface ChannelProvider {
  readonly name: string;
  readonly channel: CommsChannel;
  /** A second call with the same key sends nothing twice. */
  readonly idempotent: boolean;
  send(rendered: Rendered, target: Target, idempotencyKey: string): Promise<Outcome>;
  close?(): Promise<void>;
}
