import { createHmac } from 'node:crypto';
import { sameSecret } from '../../../runtime/data/crypto.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { CommsMessageStatus as Status, CommsSuppressionReason } from '../entities/enums.js';
import { CommsMessage } from '../entities/message.js';
import { settingsOf } from '../ports/settings.js';
import { MESSAGE_STATES } from '../rules/states.js';
import { afterBounce, reportFinal, suppress } from './outcome.js';

interface Report {
  /** The message's id, or the provider's reference. */
  ref: string;
  type: 'delivered' | 'bounced' | 'complained' | 'failed';
  permanent: boolean;
  code: string | null;
}

const NEXT = { delivered: 'deliver', bounced: 'bounce', complained: 'complain', failed: 'fail' } as const;

/** What a provider says later. A report that leads backwards changes nothing. */
export async function applyReport(ctx: Context, { ref, type, permanent, code }: Report): Promise<void> {
  const where = isUuid(ref) ? { id: ref.toLowerCase() } : { providerRef: ref };
  const message = await ctx.em.findOne(CommsMessage, where, FOR_UPDATE);
  if (!message || MESSAGE_STATES[message.status][NEXT[type]] === undefined) return;
  if (message.status === Status.QUEUED) return;
  const reason =
    type === 'bounced'
      ? code === '5.2.2'
        ? 'mailbox_full'
        : permanent
          ? 'invalid_address'
          : 'provider_rejected'
      : type === 'complained'
        ? 'complaint'
        : type === 'failed'
          ? 'provider_rejected'
          : null;
  reportFinal(ctx, message, type, reason);
  if (type === 'bounced') await afterBounce(ctx, message, permanent, 'report');
  if (type === 'complained' && message.addressHash)
    await suppress(ctx, {
      channel: message.channel,
      addressHash: message.addressHash,
      reason: CommsSuppressionReason.COMPLAINT,
      source: 'report',
    });
}

const WITHIN_S = 300;

/** Whether a report is signed by us, lately. Source: comms 4.5. */
export function isSigned(host: ServiceHost, header: string | undefined, body: Buffer, now: Date): boolean {
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (!time || !signature) return false;
  const made = createHmac('sha256', settingsOf(host).reportSecret).update(`${time}.`).update(body).digest('hex');
  return sameSecret(made, signature) && Math.abs(now.getTime() / 1000 - Number(time)) <= WITHIN_S;
}

interface Told {
  id: string;
  type: string;
  message_id: string;
  permanent: boolean;
  code: string | null;
}

function told(body: Buffer): Told {
  try {
    const { id, type, message_id, permanent = true, code = null } = JSON.parse(body.toString()) as Partial<Told>;
    if (typeof id === 'string' && id.length <= 128 && typeof type === 'string' && typeof message_id === 'string')
      return { id, type, message_id, permanent, code };
  } catch {
    // falls through to the refusal
  }
  return fail('invalid_request', 'The body is not a report');
}

const TYPES = ['delivered', 'bounced', 'complained'] as const;

/** Takes a report once. `<id@domain>` and the id alone name the same message. */
export async function takeReport(ctx: Context, body: Buffer): Promise<void> {
  const { id, type, message_id, permanent, code } = told(body);
  const [first] = await ctx.sql('insert into comms.inbound_receipt (id, at) values ($1, $2) on conflict do nothing returning 1', [
    `email:${id}`,
    ctx.now().toISOString(),
  ]);
  const known = TYPES.find(one => one === type);
  if (!first || !known) return;
  await applyReport(ctx, { ref: message_id.replace(/^<|>$/g, '').split('@')[0]!, type: known, permanent, code });
}
