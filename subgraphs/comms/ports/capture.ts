import { createHash } from 'node:crypto';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { CommsChannel } from '../entities/enums.js';
import type { ChannelProvider, Outcome, Rendered, Target } from './provider.js';

const KEPT = 1_000;
/** Kept for 24 hours. */
const OLD = `delete from comms.captured_message where created_at < $1 or id in (select id from comms.captured_message order by created_at desc, id desc offset ${KEPT})`;
const DAY_MS = 86_400_000;

export const capturedContext = (id: string): string => `captured_message.sealed:${id}`;

/** The same key, the same row: what is sent again is kept once. */
function idOf(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

const INSERT = `insert into comms.captured_message (id, message_id, user_id, channel, sealed, created_at) values ($1, $2, $3, $4, $5, $6) on conflict (id) do nothing`;

/** How often a magic address has failed, by message. */
const failures = new Map<string, number>();

function magic(address: string, messageId: string): Outcome | null {
  const [local = '', domain] = address.split('@');
  if (domain !== 'example.test') return null;
  if (local === 'bounce') return { kind: 'permanent', code: '5.1.1', bounced: true, invalid: true };
  const wanted = /^transient(\d)$/.exec(local)?.[1];
  if (!wanted) return null;
  const before = failures.get(messageId) ?? 0;
  failures.set(messageId, before + 1);
  return before < Number(wanted) ? { kind: 'transient', code: '4.2.0' } : null;
}

/** Keeps what would have been sent, sealed, for who looks at it; sends nothing. Source: comms 8. */
export const captureProvider = (host: ServiceHost, channel: CommsChannel): ChannelProvider => ({
  name: 'capture',
  channel,
  idempotent: true,
  async send(rendered: Rendered, target: Target, idempotencyKey: string) {
    const to = 'address' in target ? target.address : target.device.endpoint;
    const outcome = channel === CommsChannel.EMAIL ? magic(to, rendered.messageId) : null;
    if (outcome) return outcome;
    await host.transaction(async ctx => {
      const id = idOf(idempotencyKey);
      const sealed = host.sealer.seal(JSON.stringify({ to, ...rendered }), capturedContext(id));
      await ctx.sql(INSERT, [id, rendered.messageId, rendered.userId, channel, sealed, ctx.now().toISOString()]);
      if (id.endsWith('00')) await ctx.sql(OLD, [new Date(ctx.now().getTime() - DAY_MS).toISOString()]);
    });
    return { kind: 'accepted', ref: `capture:${rendered.messageId}` };
  },
});
