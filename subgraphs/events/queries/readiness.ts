import type { ServiceHost } from '../../../runtime/host.js';

/** Relay groups whose last lease ran out 10 s ago or more: what belongs to them is not published. */
const ABANDONED = `select from events.lease where name ~ '^relay:[0-7]$' and expires_at < clock_timestamp() - interval '10 seconds'`;

/** Beside the database. A process without the relay answers requests whoever relays, so it says nothing against it. Source: events 4, readyz. */
export async function ready(host: ServiceHost): Promise<{ transport: boolean; relay: boolean }> {
  const relays = host.config.roles.has('relay');
  const abandoned = relays ? await host.read(ctx => ctx.sql(ABANDONED)) : [];
  return { transport: host.transport.ready().ok, relay: abandoned.length === 0 };
}
