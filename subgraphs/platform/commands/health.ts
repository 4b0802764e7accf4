import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { HealthIncidentCause, ServiceHealthStatus } from '../entities/health.js';
import { PlatformService } from '../entities/registry.js';
import type { Probe } from '../ports/health-probe.js';
import { nextHealth } from '../rules/health.js';
import { closeIncident, openIncident } from './incidents.js';

const { DOWN, UNKNOWN } = ServiceHealthStatus;

const SAMPLES = `
  insert into platform.health_sample (service, at, result, latency_ms)
  select r.slug, $2, r.result, r.latency from jsonb_to_recordset($1::jsonb) as r(slug text, result text, latency int) on conflict do nothing`;
/** Samples are kept for operators; uptime is made of incidents. */
const FORGET_SAMPLES = `delete from platform.health_sample where at < $1::timestamptz - interval '1 day'`;

/** One result for one service. A service that was never there is not down; a result of an address that it has left does not count. */
async function record(ctx: Context, service: PlatformService, { result, baseUrl, latencyMs, checks }: Probe, at: Date): Promise<void> {
  if (service.baseUrl !== baseUrl) return;
  if (result === 'absent' && service.healthStatus === UNKNOWN) return;
  const before = service.healthStatus;
  const { recentChecks: recent, consecutiveFailures } = service;
  const next = nextHealth({ status: before, recent, consecutiveFailures }, result === 'absent' ? 'failed' : result);
  Object.assign(service, { checkedAt: at, latencyMs, checks, healthStatus: next.status, recentChecks: next.recent });
  service.consecutiveFailures = next.consecutiveFailures;
  if (next.status !== before) service.healthSince = at;
  if (next.status === DOWN && result !== 'ok') await openIncident(ctx, service.slug, HealthIncidentCause.HEALTH, at, DOWN);
  if (before === DOWN && next.status !== DOWN) await closeIncident(ctx, service.slug, HealthIncidentCause.HEALTH, at);
}

/** Writes what a look at the services has found. */
export async function recordProbes(ctx: Context, probes: readonly Probe[], at: Date): Promise<void> {
  const services = await ctx.em.find(PlatformService, {}, { orderBy: { slug: 'asc' }, ...FOR_UPDATE });
  const bySlug = new Map(services.map(service => [service.slug, service]));
  for (const one of probes) await record(ctx, bySlug.get(one.slug)!, one, at);
  const deployed = probes.filter(({ result }) => result !== 'absent');
  const samples = deployed.map(({ slug, result, latencyMs }) => ({ slug, result, latency: latencyMs }));
  await ctx.sql(SAMPLES, [JSON.stringify(samples), at.toISOString()]);
  await ctx.sql(FORGET_SAMPLES, [at.toISOString()]);
}
