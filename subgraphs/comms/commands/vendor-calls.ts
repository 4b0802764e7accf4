import { commsStreamEvent } from '../../../events/catalogue/comms.js';
import type { Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { CommsChannel, CommsSuppressionReason } from '../entities/enums.js';
import { vendorReceipt } from '../ports/display.js';
import { settingsOf } from '../ports/settings.js';
import { addressHash } from '../rules/addresses.js';
import { inboundWord } from '../rules/suppression.js';
import { suppress } from './outcome.js';
import { ask } from './request.js';
import { applyReport } from './reports.js';

type Body = Record<string, unknown>;

/** Fetches what a vendor has sent, before the transaction. */
export const vendorFacts = async (ctx: Context, event: Envelope<{ receipt_id: string }>): Promise<Body | null> =>
  vendorReceipt(ctx, event.data.receipt_id);

const text = (body: Body, name: string): string | null => (typeof body[name] === 'string' ? body[name] : null);

/** A person's text: what it asks for is done once, and confirmed once. Source: comms 4.5. */
export async function inboundText(ctx: Context, receiptId: string, from: string, words: string): Promise<void> {
  const word = inboundWord(words);
  const hash = addressHash(settingsOf(ctx.host).addressKey, CommsChannel.SMS, from);
  const known = await ctx.sql("select 1 from comms.suppression where channel = 'sms' and address_hash = $1 and reason = 'stop'", [hash]);
  if (word === 'start')
    await ctx.sql("delete from comms.suppression where channel = 'sms' and address_hash = $1 and reason = 'stop'", [hash]);
  if (word === 'help') await answer(ctx, 'sms_help', receiptId);
  if (word !== 'stop' || known.length > 0) return;
  await suppress(ctx, { channel: CommsChannel.SMS, addressHash: hash, reason: CommsSuppressionReason.STOP, source: 'inbound' });
  ctx.audit('suppression.stopped', null, { channel: 'sms' });
  await answer(ctx, 'sms_stop', receiptId);
}

/** The number stands in the receipt, and is read there at the moment of sending. */
const answer = (ctx: Context, template: string, receiptId: string): Promise<unknown> =>
  ask(ctx, {
    source: 'comms',
    dedupeKey: `${template}:${receiptId}`,
    template,
    recipientType: 'phone',
    userId: null,
    recipientId: receiptId,
    channels: [CommsChannel.SMS],
  });

const SMS_STATUS: Readonly<Record<string, 'delivered' | 'failed' | undefined>> = {
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
};

async function smsCalled(ctx: Context, receiptId: string, body: Body): Promise<void> {
  const [from, words, sid] = [text(body, 'From'), text(body, 'Body'), text(body, 'MessageSid')];
  const status = SMS_STATUS[text(body, 'MessageStatus') ?? ''];
  if (status && sid) return applyReport(ctx, { ref: sid, type: status, permanent: true, code: text(body, 'ErrorCode') });
  if (from && words !== null) await inboundText(ctx, receiptId, from, words);
}

const CHAT_KINDS = ['message_new', 'message_deleted', 'message_read', 'member_added', 'member_removed'] as const;

function chatCalled(ctx: Context, event: Envelope<{ vendor_event_id: string }>, body: Body): void {
  const kind = CHAT_KINDS.find(one => one === String(body.type).replaceAll('.', '_'));
  const channel = text(body, 'channel_id');
  if (!kind || !channel) return;
  const data = {
    stream_event_id: event.data.vendor_event_id,
    channel_id: channel,
    kind,
    message_id: text(body, 'message_id'),
    at: text(body, 'at') ?? ctx.now().toISOString(),
  };
  ctx.emit(commsStreamEvent, data, { userId: event.user_id, subject: `channel:${channel}`.slice(0, 128) });
}

/** A verified call of a vendor, once. */
export async function vendorCalled(
  ctx: Context,
  kind: 'sms' | 'chat',
  event: Envelope<{ receipt_id: string; vendor_event_id: string }>,
): Promise<void> {
  const body = ctx.facts as Body | null;
  if (!body) return; // integrations does not have it, or is not there
  const [first] = await ctx.sql('insert into comms.inbound_receipt (id, at) values ($1, $2) on conflict do nothing returning 1', [
    `${kind}:${event.data.receipt_id}`,
    ctx.now().toISOString(),
  ]);
  if (!first) return;
  if (kind === 'sms') await smsCalled(ctx, event.data.receipt_id, body);
  else chatCalled(ctx, event, body);
}
