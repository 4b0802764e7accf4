import { Migration } from '@mikro-orm/migrations';
import { roleOf, SLUGS } from '../../events/slugs.js';

const SERVICES = SLUGS.map(roleOf).join(', ');

/** The database role that calls, also inside a SECURITY DEFINER function: `role` stays the caller's. */
const CALLER = `(case current_setting('role') when 'none' then session_user::text else current_setting('role') end)`;

/**
 * Whether an operator gave the event up at the consumer: then its later ones have been handled, and only a replay that runs handlers again
 * brings it back. Of such a replay it is asked with its own id: what was given up within it stays so within it.
 */
const IS_SETTLED = `
create function events.is_settled(p_consumer text, p_event_id uuid, p_replay_id uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if ${CALLER} not in ('platform_events', 'platform_' || replace(split_part(p_consumer, '.', 1), '-', '_')) then
    raise exception 'consumer % belongs to another service', p_consumer using errcode = '42501';
  end if;
  return exists (select from events.dead_letter d where d.event_id = p_event_id and d.consumer = p_consumer and d.status = 'discarded'
    and (d.replay_id = p_replay_id or p_replay_id = '00000000-0000-0000-0000-000000000000'));
end $$;
revoke all on function events.is_settled(text, uuid, uuid) from public;
grant execute on function events.is_settled(text, uuid, uuid) to ${SERVICES}`;

export class Settled extends Migration {
  override up(): void {
    this.addSql(IS_SETTLED);
  }
}
