import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { systemClock } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import type { ServiceHost } from '../../../runtime/host.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { CanaryKind, CanarySummary, HealthIncident, HealthIncidentConnection } from '../entities/health.js';
import { PlatformService, SuiteHealth } from '../entities/registry.js';
import { HealthIncidentsArgs } from '../inputs/lists.js';
import { shownStatus, verdictOf } from '../rules/health.js';

const READERS = { service: '*', staff: 'admin:platform:read' } as const;

/** What the last reading showed is good for so long, ms: `/v1/health` answers from memory. Source: platform, rule 10. */
const FRESH_MS = 1_000;

const CANARIES = `
  select k.kind, l.status, l.sent_at as "sentAt", l.latency_ms as "latencyMs", h.share::float8 as "inTime"
  from unnest(array['bus', 'workflow']) k (kind)
  left join lateral (select status, sent_at, latency_ms from platform.canary_probe where kind = k.kind order by sent_at desc, id desc limit 1) l on true
  left join lateral (select avg((status = 'ok')::int) as share from platform.canary_probe
    where kind = k.kind and status <> 'pending' and sent_at > $1::timestamptz - interval '1 hour') h on true`;

type CanaryRow = Omit<CanarySummary, 'sentAt'> & { kind: CanaryKind; sentAt: string | null };

async function read(ctx: Context): Promise<SuiteHealth> {
  const services = await ctx.em.find(PlatformService, {}, { orderBy: { slug: 'asc' }, refresh: true });
  const rows = await ctx.sql<CanaryRow>(CANARIES, [ctx.now().toISOString()]);
  const now = systemClock.now();
  const seen = services.map(({ healthStatus, checkedAt, critical }) => ({ status: shownStatus(healthStatus, checkedAt, now), critical }));
  const summary = (kind: CanaryKind): CanarySummary => {
    const { sentAt, status, latencyMs, inTime } = rows.find(row => row.kind === kind)!;
    return { status, latencyMs, inTime, sentAt: sentAt === null ? null : new Date(sentAt) };
  };
  const canaries = { bus: summary(CanaryKind.BUS), workflow: summary(CanaryKind.WORKFLOW) };
  return { status: verdictOf(seen), services, canaries, checkedAt: now };
}

const known = new WeakMap<ServiceHost, SuiteHealth>();

@Resolver(() => SuiteHealth)
export class SuiteHealthResolver {
  @Access(READERS)
  @Query(() => SuiteHealth, { description: 'The verdict over all services, at most a second old; no service is called for it.' })
  async suiteHealth(@Ctx() ctx: Context): Promise<SuiteHealth> {
    const last = known.get(ctx.host);
    if (last && systemClock.now().getTime() - last.checkedAt.getTime() < FRESH_MS) return last;
    const fresh = await read(ctx);
    known.set(ctx.host, fresh);
    return fresh;
  }

  @Access(READERS)
  @Query(() => HealthIncidentConnection, { description: 'Incidents, newest first.' })
  healthIncidents(
    @Args(() => HealthIncidentsArgs) { service, open, ...paging }: HealthIncidentsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<HealthIncident>> {
    const where = { ...(service != null && { service }), ...(open != null && { endedAt: open ? null : { $ne: null } }) };
    return page<HealthIncident>(ctx.em, HealthIncident, where, paging, { time: 'startedAt' });
  }
}
