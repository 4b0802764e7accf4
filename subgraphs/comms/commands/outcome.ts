import { messageDelivered, messageSent } from '../../../events/catalogue/comms.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { CommsCategory, CommsChannel, CommsSuppressionReason as Reason } from '../entities/enums.js';
import type { CommsMessage } from '../entities/message.js';
import { MESSAGE_STATES } from '../rules/states.js';

const TRIGGERS = { delivered: 'deliver', bounced: 'bounce', failed: 'fail', complained: 'complain' } as const;
export type Final = keyof typeof TRIGGERS;

/** What became of a message at last: stored, and told where it is somebody's. Never backwards. @throws Problem conflict. */
export function reportFinal(ctx: Context, message: CommsMessage, status: Final, reason: string | null): void {
  message.status = move(MESSAGE_STATES, 'message', message.status, TRIGGERS[status]);
  message.statusReason = reason;
  message.leaseUntil = null;
  if (status === 'delivered') message.deliveredAt = ctx.now();
  if (message.userId === null) return;
  const data = { message_id: message.id, channel: message.channel, status, reason, reported_at: ctx.now().toISOString() };
  ctx.emit(messageDelivered, data, { userId: message.userId, brandId: message.brandId });
}

/** A provider took it, or the app shows it. */
export function reportSent(ctx: Context, message: CommsMessage): void {
  message.sentAt = ctx.now();
  if (message.userId === null) return;
  const clinical = message.category === CommsCategory.CLINICAL;
  const data = {
    message_id: message.id,
    request_id: message.requestId,
    channel: message.channel,
    template: clinical ? null : message.template,
    category: message.category,
    sent_at: message.sentAt.toISOString(),
  };
  ctx.emit(messageSent, data, { userId: message.userId, brandId: message.brandId });
}

const SUPPRESS = `
insert into comms.suppression (id, channel, address_hash, reason, scope, source, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (channel, address_hash, scope) do update set reason = case when comms.suppression.expires_at is null then comms.suppression.reason else excluded.reason end,
  expires_at = case when comms.suppression.expires_at is null then null else excluded.expires_at end returning id`;

/** Stops an address. One that is stopped for ever stays so. */
export async function suppress(
  ctx: Context,
  {
    channel,
    addressHash,
    reason,
    scope = 'all',
    source,
    expiresAt = null,
  }: { channel: CommsChannel; addressHash: string; reason: Reason; scope?: string; source: string; expiresAt?: Date | null },
): Promise<string> {
  const [row] = await ctx.sql<{ id: string }>(SUPPRESS, [
    newId(),
    channel,
    addressHash,
    reason,
    scope,
    source,
    ctx.now().toISOString(),
    expiresAt?.toISOString() ?? null,
  ]);
  return row!.id;
}

/** Bounces of an address are counted one after the other: of two that come at once each would else count without the other. */
const ONE_AT_A_TIME = `select pg_advisory_xact_lock(hashtextextended('comms.bounce ' || $1 || $2, 0))`;
const SOFT = `
select count(*)::int as count from comms.message where address_hash = $1 and channel = $2 and status = 'bounced' and created_at > $3`;
const DAY_MS = 86_400_000;
const SOFT_BOUNCES = 3;

/** What a bounce means for the address: gone for ever, or left alone for a week after the third. Source: comms, rule 6. */
export async function afterBounce(ctx: Context, message: CommsMessage, permanent: boolean, source: string): Promise<void> {
  const { addressHash, channel } = message;
  if (addressHash === null) return;
  const now = ctx.now().getTime();
  if (permanent) return void (await suppress(ctx, { channel, addressHash, reason: Reason.HARD_BOUNCE, source }));
  await ctx.em.flush();
  await ctx.sql(ONE_AT_A_TIME, [addressHash, channel]);
  const [row] = await ctx.sql<{ count: number }>(SOFT, [addressHash, channel, new Date(now - 7 * DAY_MS).toISOString()]);
  if (row!.count >= SOFT_BOUNCES)
    await suppress(ctx, { channel, addressHash, reason: Reason.HARD_BOUNCE, source, expiresAt: new Date(now + 7 * DAY_MS) });
}
