import type { Context } from '../../../runtime/request/context.js';
import { inboxFeed } from './stream.js';

/** What of a person is deleted, and what is emptied, with the outcome's table. Source: comms, rule 14. */
const STEPS: readonly [string, string][] = [
  [
    'message',
    `update comms.message set status = case when status in ('pending', 'scheduled', 'queued') then 'cancelled' else status end,
     status_reason = case when status in ('pending', 'scheduled', 'queued') then 'erased' else status_reason end,
     content_sealed = null, recipient_masked = null, address_hash = null, checks = '[]', lease_until = null, version = version + 1
     where user_id = $1 and (content_sealed is not null or recipient_masked is not null or address_hash is not null or status in ('pending', 'scheduled', 'queued')) returning 1`,
  ],
  [
    'send_request',
    `update comms.send_request set params_sealed = null, entity_id = null, group_key = null where user_id = $1 and params_sealed is not null returning 1`,
  ],
  ['captured_message', 'delete from comms.captured_message where user_id = $1 returning 1'],
  ['inbox_item', 'delete from comms.inbox_item where user_id = $1 returning 1'],
  ['push_subscription', 'delete from comms.push_subscription where user_id = $1 returning 1'],
  ['quiet_hours', 'delete from comms.quiet_hours where user_id = $1 returning 1'],
  ['zone_hint', 'delete from comms.zone_hint where user_id = $1 returning 1'],
  ['preference', 'delete from comms.preference where user_id = $1 returning 1'],
  ['mail_token', 'delete from comms.mail_token where user_id = $1 returning 1'],
  ['digest_item', 'delete from comms.digest_item where digest_id in (select id from comms.digest where user_id = $1) returning 1'],
  ['digest', 'delete from comms.digest where user_id = $1 returning 1'],
];

const TOLD = 'delete from comms.inbox_feed_entry where stream_id = $1 returning 1';

/** Erases what is held of a person; the hashes of addresses that want nothing stay, as proof. @returns rows by table. */
export async function forget(ctx: Context, userId: string): Promise<Record<string, number>> {
  const records: Record<string, number> = {};
  for (const [table, text] of STEPS) {
    const rows = await ctx.sql(text, [userId]);
    if (rows.length) records[table] = rows.length;
  }
  await inboxFeed.end(ctx, userId); // after the items, because whoever changes one holds it before the stream
  const told = await ctx.sql(TOLD, [userId]);
  if (told.length) records.inbox_feed_entry = told.length;
  return records;
}

/** What came after the erasure had been confirmed goes, too. */
export async function forgetLateRows(ctx: Context, userId: string): Promise<void> {
  await forget(ctx, userId);
}

/** Consent to adverts ends, the account lives. */
export async function forgetMarketing(ctx: Context, userId: string): Promise<Record<string, number>> {
  const rows = await ctx.sql(
    `update comms.preference set choices = (choices - 'smsConsent') || jsonb_build_object('topics', (choices->'topics') - 'offers'), version = version + 1
     where user_id = $1 and (choices ? 'smsConsent' or choices->'topics' ? 'offers') returning 1`,
    [userId],
  );
  return rows.length ? { preference: rows.length } : {};
}
