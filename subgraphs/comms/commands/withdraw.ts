import type { Context } from '../../../runtime/request/context.js';
import { tellInboxes } from './stream.js';

const SKIP = `
update comms.message set status = 'skipped', status_reason = $3, version = version + 1, lease_until = null
where entity_type = $1 and entity_id = $2 and status in ('pending', 'scheduled', 'queued') and ($4::text[] is null or template = any($4)) returning id`;

/** What is told of a thing that is gone, or told otherwise, does not leave any more. */
export const withdraw = (
  ctx: Context,
  entity: { type: string; id: string },
  reason: string,
  templates: readonly string[] | null = null,
): Promise<unknown> => ctx.sql(SKIP, [entity.type, entity.id, reason, templates]);

const REMOVE = `
with gone as (delete from comms.inbox_item where entity_type = $1 and entity_id = $2 returning user_id, status)
select distinct user_id as id from gone where status in ('unseen', 'seen') order by user_id limit $3`;
/** Of a thing that very many were told of, not everybody's stream is told in the one transaction; a stream begins with the number. */
const TOLD = 1_000;

/** Takes items of a thing out of the app. */
export async function removeItems(ctx: Context, entity: { type: string; id: string }): Promise<void> {
  const people = await ctx.sql<{ id: string }>(REMOVE, [entity.type, entity.id, TOLD]);
  await tellInboxes(
    ctx,
    [],
    people.map(({ id }) => id),
  );
}

const HINT = `
insert into comms.zone_hint (user_id, time_zone, at) values ($1, $2, $3) on conflict (user_id) do update set time_zone = excluded.time_zone, at = excluded.at`;

/** Remembers where a person's visit or dose was. Source: comms 4.3. */
export const hintZone = (ctx: Context, userId: string, timeZone: string): Promise<unknown> =>
  ctx.sql(HINT, [userId, timeZone, ctx.now().toISOString()]);
