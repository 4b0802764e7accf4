import type { ServiceHost } from '../../../runtime/request/context.js';

const HOUR_MS = 3_600_000;

/**
 * What is not as it should be, without which the service still works: a template that nobody knows was asked for in the last hour, and
 * owners of data that are not in the supergraph. Source: comms 4, rule 5.
 */
export const readiness = (host: ServiceHost): Promise<Record<string, boolean | 'degraded'>> =>
  host.read(async ctx => {
    const since = new Date(ctx.now().getTime() - HOUR_MS).toISOString();
    const rows = await ctx.sql<{ key: string }>(
      "select key from comms.provider_state where (key = 'unknown_template' or key like 'absent:%') and at > $1",
      [since],
    );
    const synced = await ctx.sql("select 1 from comms.provider_state where key = 'templates'");
    const notes = rows.map(
      ({ key }) => [key.startsWith('absent:') ? `owner_${key.slice(7).replaceAll('-', '_')}` : 'templates_known', 'degraded'] as const,
    );
    return { templates: synced.length > 0, ...Object.fromEntries(notes) };
  });
