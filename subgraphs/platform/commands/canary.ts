import { platformCanary } from '../../../events/catalogue/platform.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { CanaryKind, CanaryProbe, CanaryProbeStatus, HealthIncidentCause, ServiceHealthStatus } from '../entities/health.js';
import { arrivalOf } from '../rules/health.js';
import { closeIncident, openIncident } from './incidents.js';

const { BUS, WORKFLOW } = CanaryKind;
const { OK, LOST } = CanaryProbeStatus;

/** The service that is held to be down when a probe is lost. */
const SUSPECT = { [BUS]: 'events', [WORKFLOW]: 'workflow' } as const;

/** Sends a probe over the bus; it comes back to the consumer of this service. */
export function sendCanary(ctx: Context): CanaryProbe {
  const sent = Object.assign(new CanaryProbe(), { kind: BUS, origin: ctx.slug, sentAt: ctx.now() });
  ctx.em.persist(sent);
  const data = { probe_id: sent.id, sent_at: sent.sentAt.toISOString(), origin: sent.origin };
  ctx.emit(platformCanary, data, { subject: `canary:${sent.id}` });
  return sent;
}

/** Status 202. @throws Problem conflict for a workflow's probe. */
export function runCanary(ctx: Context, kind: CanaryKind): CanaryProbe {
  if (kind === WORKFLOW) fail('conflict', 'The workflow service sends its own canary, once a minute', { reason: 'sent_by_workflow' });
  const sent = sendCanary(ctx);
  ctx.audit('canary.sent', sent.id, { kind });
  ctx.status(202);
  return sent;
}

async function arrive(ctx: Context, probe: CanaryProbe): Promise<void> {
  if (probe.receivedAt) return;
  probe.receivedAt = ctx.now();
  probe.latencyMs = Math.max(0, probe.receivedAt.getTime() - probe.sentAt.getTime());
  if (probe.status !== LOST) probe.status = arrivalOf(probe.kind, probe.latencyMs);
  if (probe.status === OK) await closeIncident(ctx, SUSPECT[probe.kind], HealthIncidentCause.CANARY, probe.receivedAt);
}

/** A probe of the bus is back. */
export async function receiveCanary(ctx: Context, id: string): Promise<void> {
  const probe = await ctx.em.findOne(CanaryProbe, { id });
  if (probe) await arrive(ctx, probe);
}

/** A workflow's probe is known only when it arrives. */
export async function receiveWorkflowCanary(ctx: Context, id: string, sentAt: Date): Promise<void> {
  const known = await ctx.em.findOne(CanaryProbe, { id });
  const probe = known ?? Object.assign(new CanaryProbe(), { id, kind: WORKFLOW, origin: 'workflow', sentAt });
  ctx.em.persist(probe);
  await arrive(ctx, probe);
}

/** A probe is not back in time; `id` null: workflows have fallen silent. */
export async function loseCanary(ctx: Context, id: string | null, at: Date): Promise<void> {
  const silent = { kind: WORKFLOW, origin: 'workflow', sentAt: at };
  const probe = id === null ? Object.assign(new CanaryProbe(), silent) : await ctx.em.findOneOrFail(CanaryProbe, { id });
  probe.status = LOST;
  ctx.em.persist(probe);
  await openIncident(ctx, SUSPECT[probe.kind], HealthIncidentCause.CANARY, at, ServiceHealthStatus.DOWN);
}
