import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { systemClock } from '../../../runtime/time/clock.js';
import { after, DAY_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { INSIDERS } from '../entities/access.js';
import { CanaryKind, HealthIncident, HealthIncidentCause, type CanarySummary, type ServiceHealth } from '../entities/health.js';
import { PlatformService, type SuiteHealth } from '../entities/registry.js';
import type { PlatformServicesArgs } from '../inputs/lists.js';
import { shownStatus, uptimeOf, verdictOf } from '../rules/health.js';

const INSIDE = ruleOf(INSIDERS);

export const isInsider = (ctx: Context): boolean => mayAccess(INSIDE, ctx.caller);

/** The health of a service as a caller may see it. */
export function healthOf(ctx: Context, service: PlatformService): ServiceHealth {
  const { checkedAt, latencyMs, consecutiveFailures, healthSince: since } = service;
  const status = shownStatus(service.healthStatus, checkedAt, systemClock.now());
  const { checks, lastSeen } = isInsider(ctx) ? service : { checks: null, lastSeen: null };
  return { status, checkedAt, latencyMs, consecutiveFailures, since, checks, lastSeen };
}

/** Services by slug. What is shown as their health depends on the time, so it is compared after the read. */
export async function servicesBy(ctx: Context, { maturity, productionReady, health }: PlatformServicesArgs): Promise<PlatformService[]> {
  const where = { ...(maturity && { maturity }), ...(productionReady != null && { productionReady }) };
  const rows = await ctx.em.find(PlatformService, where, { orderBy: { slug: 'asc' } });
  return health ? rows.filter(row => healthOf(ctx, row).status === health) : rows;
}

/** Incidents of services in a span that ends now: one statement. */
const incidentsSince = (ctx: Context, slugs: readonly string[], from: Date): Promise<HealthIncident[]> =>
  ctx.em.find(HealthIncident, {
    service: { $in: [...slugs] },
    cause: HealthIncidentCause.HEALTH,
    $or: [{ endedAt: null }, { endedAt: { $gt: from } }],
  });

/** Share of the last days in which each service was not down, 0 to 1. */
export async function uptimesOf(ctx: Context, slugs: readonly string[], days: number): Promise<number[]> {
  const now = systemClock.now();
  const from = after(now, -days * DAY_MS);
  const incidents = await incidentsSince(ctx, slugs, from);
  const ofService = (slug: string): HealthIncident[] => incidents.filter(({ service }) => service === slug);
  return slugs.map(slug => uptimeOf(from, now, ofService(slug)));
}

const NEWEST = `
  select id from (select id, row_number() over (partition by service order by started_at desc, id desc) as place from platform.health_incident
  where service = any ($1)) i where place <= $2`;

/** The newest incidents of each service. */
export async function incidentsOf(ctx: Context, slugs: readonly string[], first: number): Promise<HealthIncident[][]> {
  const ids = (await ctx.sql<{ id: string }>(NEWEST, [slugs, first])).map(({ id }) => id);
  const rows = await ctx.em.find(HealthIncident, { id: { $in: ids } }, { orderBy: { startedAt: 'desc', id: 'desc' } });
  return slugs.map(slug => rows.filter(({ service }) => service === slug));
}

const CANARIES = `
  select k.kind, l.status, l.sent_at as "sentAt", l.latency_ms as "latencyMs", h.share::float8 as "inTime"
  from unnest(array['bus', 'workflow']) k (kind)
  left join lateral (select status, sent_at, latency_ms from platform.canary_probe where kind = k.kind order by sent_at desc, id desc limit 1) l on true
  left join lateral (select avg((status = 'ok')::int) as share from platform.canary_probe
    where kind = k.kind and status <> 'pending' and sent_at > $1::timestamptz - interval '1 hour') h on true`;

type CanaryRow = Omit<CanarySummary, 'sentAt'> & { kind: CanaryKind; sentAt: string | null };

async function canariesOf(ctx: Context): Promise<SuiteHealth['canaries']> {
  const rows = await ctx.sql<CanaryRow>(CANARIES, [ctx.now().toISOString()]);
  const summary = (kind: CanaryKind): CanarySummary => {
    const { sentAt, status, latencyMs, inTime } = rows.find(row => row.kind === kind)!;
    return { status, latencyMs, inTime, sentAt: sentAt === null ? null : new Date(sentAt) };
  };
  return { bus: summary(CanaryKind.BUS), workflow: summary(CanaryKind.WORKFLOW) };
}

async function readSuite(ctx: Context): Promise<SuiteHealth> {
  const services = await ctx.em.find(PlatformService, {}, { orderBy: { slug: 'asc' }, refresh: true });
  const canaries = await canariesOf(ctx);
  const checkedAt = systemClock.now();
  const shown = services.map(one => ({ status: shownStatus(one.healthStatus, one.checkedAt, checkedAt), critical: one.critical }));
  return { status: verdictOf(shown), services, canaries, checkedAt };
}

/** What the last reading showed is good for so long: `/v1/health` answers from memory. Source: platform, rule 10. */
const FRESH_MS = SECOND_MS;
const known = new WeakMap<ServiceHost, SuiteHealth>();

/** The verdict over all services, at most a second old; no service is called for it. */
export async function suiteHealth(ctx: Context): Promise<SuiteHealth> {
  const last = known.get(ctx.host);
  if (last && systemClock.now().getTime() - last.checkedAt.getTime() < FRESH_MS) return last;
  const fresh = await readSuite(ctx);
  known.set(ctx.host, fresh);
  return fresh;
}
