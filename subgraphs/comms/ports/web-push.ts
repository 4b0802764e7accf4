import { createHash } from 'node:crypto';
import { CommsChannel } from '../entities/enums.js';
import { guardedPost } from './guarded-post.js';
import type { ChannelProvider, Outcome, Rendered, Target } from './provider.js';
import type { CommsSettings } from './settings.js';

const DEADLINE_MS = 10_000;
const TOO_LARGE = 413;

/** First 32 characters: a retry replaces what waits at the vendor. */
const topicOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 32);

const payloadOf = ({ messageId, push }: Rendered, short: boolean): string =>
  JSON.stringify({
    title: push!.title,
    ...(!short && { body: push!.body }),
    deep_link: push!.deepLink,
    notification_id: messageId,
    badge: push!.badge,
  });

function judged(status: number, retryAfter: string | undefined): Outcome {
  if (status === 404 || status === 410) return { kind: 'permanent', code: String(status), bounced: false, invalid: true };
  if (status === 429 || status >= 500 || status === 408)
    return { kind: 'transient', code: String(status), retryAfterMs: Number(retryAfter ?? 0) * 1000 || undefined };
  return status >= 400 ? { kind: 'permanent', code: String(status), bounced: false, invalid: false } : { kind: 'accepted', ref: null };
}

/** Web Push (RFC 8030, 8188, 8291, 8292): encrypted for the device, signed by VAPID, sent by the guarded agent. */
export const webPushProvider = ({ vapid, egress }: Pick<CommsSettings, 'vapid' | 'egress'>): ChannelProvider => ({
  name: 'web_push',
  channel: CommsChannel.PUSH,
  idempotent: true,
  async send(rendered, target: Target) {
    const { endpoint, p256dh, auth } = (target as { device: { endpoint: string; p256dh: string; auth: string } }).device;
    const { default: webpush } = await import('web-push');
    const post = async (short: boolean) => {
      const details = webpush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, payloadOf(rendered, short), {
        vapidDetails: { subject: vapid.subject, publicKey: vapid.publicKey, privateKey: vapid.privateKey },
        contentEncoding: 'aes128gcm',
        TTL: rendered.push!.ttlSeconds,
        urgency: rendered.push!.urgent ? 'high' : 'normal',
        topic: topicOf(rendered.messageId),
      });
      const headers = Object.fromEntries(Object.entries(details.headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
      delete headers['content-length'];
      return guardedPost(endpoint, { headers, body: details.body, deadlineMs: DEADLINE_MS, allowed: egress });
    };
    try {
      let answer = await post(false);
      if (answer.status === TOO_LARGE) answer = await post(true);
      return judged(answer.status, answer.headers['retry-after'] as string | undefined);
    } catch (error) {
      const blocked = (error as { code?: string }).code === 'BLOCKED' || (error as Error).name === 'BlockedAddress';
      return blocked ? { kind: 'permanent', code: 'blocked', bounced: false, invalid: true } : { kind: 'transient', code: 'unreachable' };
    }
  },
});
