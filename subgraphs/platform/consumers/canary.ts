import { platformCanary } from '../../../events/catalogue/platform.js';
import { workflowCanary } from '../../../events/catalogue/workflow.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { CanaryKind, CanaryProbe, CanaryProbeStatus, HealthIncidentCause, ServiceHealthStatus } from '../entities/health.js';
import { closeIncident, openIncident } from '../commands/incidents.js';
import { arrivalOf, CANARY_LIMITS } from '../rules/health.js';

const { BUS, WORKFLOW } = CanaryKind;
const { OK, LOST } = CanaryProbeStatus;

/** The service that a lost probe speaks against. */
const SUSPECT = { [BUS]: 'events', [WORKFLOW]: 'workflow' } as const;

async function arrive(ctx: Context, probe: CanaryProbe): Promise<void> {
  if (probe.receivedAt) return;
  probe.receivedAt = ctx.now();
  probe.latencyMs = Math.max(0, probe.receivedAt.getTime() - probe.sentAt.getTime());
  if (probe.status !== LOST) probe.status = arrivalOf(probe.kind, probe.latencyMs);
  if (probe.status === OK) await closeIncident(ctx, SUSPECT[probe.kind], HealthIncidentCause.CANARY, probe.receivedAt);
}

const back = handle(platformCanary, async (ctx: Context, { data }) => {
  const probe = await ctx.em.findOne(CanaryProbe, { id: data.probe_id });
  if (probe) await arrive(ctx, probe);
});

/** A workflow's probe is known only when it arrives. */
const through = handle(workflowCanary, async (ctx: Context, { data }) => {
  const known = await ctx.em.findOne(CanaryProbe, { id: data.probe_id });
  const facts = { id: data.probe_id, kind: WORKFLOW, origin: 'workflow', sentAt: new Date(data.sent_at) };
  const probe = known ?? Object.assign(new CanaryProbe(), facts);
  ctx.em.persist(probe);
  await arrive(ctx, probe);
});

/** Two queues, so that a workflow's probe does not wait behind the bus's. */
export const canaryConsumers: readonly Consumer<Context>[] = [
  { name: 'platform.canary', on: [back] },
  { name: 'platform.workflow_canary', on: [through] },
];

/** Probes that are not back in time, and the silence of workflows that have been heard before. */
const OVERDUE = `
  select id, sent_at + interval '${CANARY_LIMITS[BUS].lost} milliseconds' as at from platform.canary_probe where kind = 'bus' and status = 'pending'
  union all
  select null, w.sent_at + interval '${CANARY_LIMITS[WORKFLOW].lost} milliseconds' from (
    select sent_at, status from platform.canary_probe where kind = 'workflow' order by sent_at desc, id desc limit 1) w where w.status <> 'lost'`;
const EARLIEST = `select extract(epoch from min(at)) * 1000 as ms from (${OVERDUE}) o`;
const DUE = `select id from (${OVERDUE}) o where at <= $1 order by at`;

async function lose(ctx: Context, id: string | null, at: Date): Promise<void> {
  const silent = { kind: WORKFLOW, origin: 'workflow', sentAt: at };
  const probe = id === null ? Object.assign(new CanaryProbe(), silent) : await ctx.em.findOneOrFail(CanaryProbe, { id });
  probe.status = LOST;
  ctx.em.persist(probe);
  await openIncident(ctx, SUSPECT[probe.kind], HealthIncidentCause.CANARY, at, ServiceHealthStatus.DOWN);
}

/** Source: platform 5. */
export const canaryTimer: Timer<Context> = {
  name: 'canaries',
  everySeconds: 5,
  async next(ctx) {
    const [row] = await ctx.sql<{ ms: string | null }>(EARLIEST);
    return row?.ms == null ? null : new Date(Math.round(Number(row.ms)));
  },
  async run(ctx, at) {
    for (const { id } of await ctx.sql<{ id: string | null }>(DUE, [at.toISOString()])) await lose(ctx, id, at);
  },
};
