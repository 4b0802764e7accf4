import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { platformCanary } from '../../../events/catalogue/platform.js';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { CanaryKind, CanaryProbe, CanaryProbeConnection } from '../entities/health.js';
import { CanaryProbesArgs } from '../inputs/lists.js';

/** Sends a probe over the bus; it comes back to the consumer of this service. */
export function sendCanary(ctx: Context): CanaryProbe {
  const sent = Object.assign(new CanaryProbe(), { kind: CanaryKind.BUS, origin: ctx.slug, sentAt: ctx.now() });
  ctx.em.persist(sent);
  const data = { probe_id: sent.id, sent_at: sent.sentAt.toISOString(), origin: sent.origin };
  ctx.emit(platformCanary, data, { subject: `canary:${sent.id}` });
  return sent;
}

@Resolver(() => CanaryProbe)
export class CanaryResolver {
  @Access({ staff: 'admin:platform:read' })
  @Query(() => CanaryProbeConnection, { description: 'Probes, newest first.' })
  canaryProbes(
    @Args(() => CanaryProbesArgs) { kind, status, ...paging }: CanaryProbesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CanaryProbe>> {
    const where = { ...(kind && { kind }), ...(status && { status }) };
    return page<CanaryProbe>(ctx.em, CanaryProbe, where, paging, { time: 'sentAt' });
  }

  @Access({ service: 'admin:platform', staff: 'admin:platform:services' })
  @Mutation(() => CanaryProbe, { description: 'Sends a probe over the bus. The workflow service sends its own, every minute.' })
  runCanary(@Arg('kind', () => CanaryKind) kind: CanaryKind, @Ctx() ctx: Context): CanaryProbe {
    if (kind === CanaryKind.WORKFLOW)
      fail('conflict', 'The workflow service sends its own canary, once a minute', { reason: 'sent_by_workflow' });
    const sent = sendCanary(ctx);
    ctx.audit('canary.sent', sent.id, { kind });
    ctx.status(202);
    return sent;
  }
}
