import type { ServiceHost } from '../../../runtime/request/context.js';

const DAY_MS = 86_400_000;

/** Streams are locked in the order of their people, as by who tells them; who comes back with an older number begins anew. */
const TOLD = `
with old as (
  select stream_id, max(seq) as seq from comms.inbox_feed_entry where at < $1 group by stream_id
), held as (
  select h.stream_id, old.seq from comms.inbox_feed_head h join old using (stream_id) order by h.stream_id for update of h
), pruned as (
  update comms.inbox_feed_head h set floor = greatest(h.floor, held.seq) from held where h.stream_id = held.stream_id
)
delete from comms.inbox_feed_entry e using held where e.stream_id = held.stream_id and e.seq <= held.seq`;

/** What is kept no longer, with the days it is kept. Source: comms 2. */
const OLD: readonly [string, number][] = [
  [
    'update comms.message set content_sealed = null where id in (select id from comms.message where content_sealed is not null and created_at < $1 limit 5000)',
    30,
  ],
  [
    "update comms.send_request set params_sealed = null where id in (select id from comms.send_request where params_sealed is not null and status <> 'accepted' and created_at < $1 and not exists (select 1 from comms.message m where m.request_id = send_request.id and m.status in ('pending', 'scheduled', 'queued')) limit 5000)",
    90,
  ],
  ['delete from comms.inbox_item where expires_at < $1', 0],
  ['delete from comms.captured_message where created_at < $1', 1],
  ['delete from comms.mail_token where expires_at < $1', 0],
  ['delete from comms.suppression where expires_at < $1', 0],
  ['delete from comms.inbound_receipt where at < $1', 35],
  [TOLD, 1],
  ['delete from comms.inbox_feed_head where over_at < $1', 1],
];

/** When something has been kept long enough. */
export const NEXT_TIDY = `
select min(created_at) + interval '30 days' as at from comms.message where content_sealed is not null
union all select min(created_at) + interval '1 day' from comms.captured_message
union all select min(expires_at) from comms.inbox_item union all select min(expires_at) from comms.mail_token
union all select min(expires_at) from comms.suppression
union all select min(at) + interval '1 day' from comms.inbox_feed_entry
union all select min(over_at) + interval '1 day' from comms.inbox_feed_head where over_at is not null`;

/** Deletes what has been kept long enough. */
export async function tidy(host: ServiceHost): Promise<void> {
  for (const [text, days] of OLD)
    await host.transaction(ctx => ctx.sql(text, [new Date(ctx.now().getTime() - days * DAY_MS).toISOString()]));
}
