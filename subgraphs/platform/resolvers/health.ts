import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { runCanary } from '../commands/canary.js';
import { INSIDERS, REGISTRY_OPERATORS } from '../entities/access.js';
import { CanaryKind, CanaryProbe, CanaryProbeConnection, HealthIncident, HealthIncidentConnection } from '../entities/health.js';
import { SuiteHealth } from '../entities/registry.js';
import { CanaryProbesArgs, HealthIncidentsArgs } from '../inputs/lists.js';
import { suiteHealth } from '../queries/health.js';

@Resolver()
export class HealthResolver {
  @Access(INSIDERS)
  @Query(() => SuiteHealth, { description: 'The verdict over all services, at most a second old; no service is called for it.' })
  suiteHealth(@Ctx() ctx: Context): Promise<SuiteHealth> {
    return suiteHealth(ctx);
  }

  @Access(INSIDERS)
  @Query(() => HealthIncidentConnection, { description: 'Incidents, newest first.' })
  healthIncidents(
    @Args(() => HealthIncidentsArgs) { service, open, ...paging }: HealthIncidentsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<HealthIncident>> {
    const where = { ...(service != null && { service }), ...(open != null && { endedAt: open ? null : { $ne: null } }) };
    return page(ctx.em, HealthIncident, where, paging, { time: 'startedAt' });
  }

  @Access({ staff: 'admin:platform:read' })
  @Query(() => CanaryProbeConnection, { description: 'Probes, newest first.' })
  canaryProbes(
    @Args(() => CanaryProbesArgs) { kind, status, ...paging }: CanaryProbesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CanaryProbe>> {
    return page(ctx.em, CanaryProbe, { ...(kind && { kind }), ...(status && { status }) }, paging, { time: 'sentAt' });
  }

  @Access(REGISTRY_OPERATORS)
  @Mutation(() => CanaryProbe, { description: 'Sends a probe over the bus. The workflow service sends its own, every minute.' })
  runCanary(@Arg('kind', () => CanaryKind) kind: CanaryKind, @Ctx() ctx: Context): CanaryProbe {
    return runCanary(ctx, kind);
  }
}
