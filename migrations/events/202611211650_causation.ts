import { Migration } from '@mikro-orm/migrations';

/** Finds the events that an event caused. */
const CAUSATION = `create index outbox_causation on events.outbox (causation_id) where causation_id is not null`;

/**
 * When consumers handled events, from the inboxes of their services. The inbox is the machinery's own table in each schema (event machinery 7),
 * and no more than its three columns is shown; of a service whose schema is in another database nothing is known.
 */
const HANDLED = `
create function events.handled(p_event_ids uuid[]) returns table (consumer text, event_id uuid, handled_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog as $$
#variable_conflict use_column
declare v_schema text; v_names text[];
begin
  for v_schema, v_names in select replace(c.service, '-', '_'), array_agg(c.name) from events.consumer c group by c.service loop
    continue when to_regclass(format('%I.inbox', v_schema)) is null;
    return query execute format(
      'select i.consumer, i.event_id, min(i.processed_at) from %I.inbox i where i.consumer = any ($1) and i.event_id = any ($2) group by 1, 2', v_schema)
      using v_names, p_event_ids;
  end loop;
end $$;
revoke all on function events.handled(uuid[]) from public;
grant execute on function events.handled(uuid[]) to platform_events`;

export class Causation extends Migration {
  override up(): void {
    this.addSql(CAUSATION);
    this.addSql(HANDLED);
  }
}
