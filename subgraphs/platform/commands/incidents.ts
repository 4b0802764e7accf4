import type { Context } from '../../../runtime/request/context.js';
import { HealthIncident, HealthIncidentCause, type ServiceHealthStatus } from '../entities/health.js';

const openOf = (ctx: Context, service: string): Promise<HealthIncident | null> =>
  ctx.em.findOne(HealthIncident, { service, endedAt: null });

/** Opens an incident of a service, or counts one more failure in the one that is open. */
export async function openIncident(
  ctx: Context,
  service: string,
  cause: HealthIncidentCause,
  at: Date,
  worst: ServiceHealthStatus,
): Promise<void> {
  const open = await openOf(ctx, service);
  if (open) return void open.samples++;
  ctx.em.persist(Object.assign(new HealthIncident(), { service, cause, startedAt: at, worst, samples: 1 }));
  ctx.log.error({ alarm: 'service down', service_slug: service, cause }, 'an incident was opened');
}

/** Ends the open incident of a service, if this is what opened it. */
export async function closeIncident(ctx: Context, service: string, cause: HealthIncidentCause, at: Date): Promise<void> {
  const open = await openOf(ctx, service);
  if (open?.cause === cause) open.endedAt = at;
}
