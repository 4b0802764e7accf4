import { CommsChannel } from '../entities/enums.js';
import { guardedPost, type Posted } from './guarded-post.js';
import type { ChannelProvider, Outcome, Target } from './provider.js';
import type { CommsSettings } from './settings.js';

const DEADLINE_MS = 10_000;
/** Numbers that cannot get a text, by the vendor's codes. */
const NO_NUMBER = new Set(['21211', '21614', '21610']);

const codeOf = (body: string): string | null => {
  try {
    return String((JSON.parse(body) as { code?: number }).code ?? '') || null;
  } catch {
    return null;
  }
};

function judged({ status, headers, body }: Posted): Outcome {
  if (status === 429 || status === 408 || status >= 500)
    return { kind: 'transient', code: String(status), retryAfterMs: Number(headers['retry-after'] ?? 0) * 1000 || undefined };
  const code = codeOf(body);
  if (status >= 400)
    return { kind: 'permanent', code: code ?? String(status), bounced: NO_NUMBER.has(code ?? ''), invalid: NO_NUMBER.has(code ?? '') };
  return { kind: 'accepted', ref: (JSON.parse(body) as { sid?: string }).sid ?? null };
}

/** Texts by the REST form of Twilio; the base address is a setting. */
export const twilioProvider = ({ twilio, egress }: Pick<CommsSettings, 'twilio' | 'egress'>): ChannelProvider => ({
  name: 'twilio',
  channel: CommsChannel.SMS,
  idempotent: true,
  async send(rendered, target: Target, idempotencyKey) {
    const { url, account, token, from } = twilio!;
    const body = new URLSearchParams({ To: (target as { address: string }).address, From: from, Body: rendered.text }).toString();
    const headers = {
      authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      'i-twilio-idempotency-token': idempotencyKey,
    };
    try {
      return judged(
        await guardedPost(`${url}/2010-04-01/Accounts/${account}/Messages.json`, {
          headers,
          body,
          deadlineMs: DEADLINE_MS,
          allowed: egress,
        }),
      );
    } catch {
      return { kind: 'transient', code: 'unreachable' };
    }
  },
});
