import type { FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { adminScopeOf } from '../../../events/slugs.js';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { InboundReceipt, InboundReceiptConnection, InboundSource } from '../entities/inbound.js';
import { MANAGERS, READERS } from '../entities/subscription.js';
import { InboundReceiptsArgs, ReplayInboundReceiptInput } from '../inputs/inbound.js';
import { inboundSecrets } from '../ports/inbound-verifier.js';
import { sealerOf } from '../ports/sealer.js';
import { INBOUND_SOURCES, isInboundSource, type InboundSourceName } from '../rules/inbound.js';
import { hintOf } from '../rules/wire.js';
import { emitReceived, inboundContext } from '../commands/inbound-store.js';
import { checkUnbound } from '../queries/managed.js';
import { audited } from '../queries/payload.js';

const STATES = `
select n.name, (extract(epoch from s.last_received_at) * 1000)::float8 as last,
  coalesce((select sum(r.rejected) from webhooks.inbound_rejection r where r.source = n.name and r.hour > $2::timestamptz - interval '24 hours'), 0)::int as rejected
from unnest($1::text[]) as n(name) left join webhooks.inbound_source s on s.name = n.name`;

/** Whether the caller may read what the vendor told: the scope or read permission of the service whose data it is. */
function mayReadBody(ctx: Context, source: string): boolean {
  if (!isInboundSource(source)) return false;
  const scope = adminScopeOf(INBOUND_SOURCES[source].owner);
  return mayAccess(ruleOf({ service: scope, staff: `${scope}:read` }), ctx.caller);
}

async function findReceipt(ctx: Context, id: string): Promise<InboundReceipt | null> {
  await checkUnbound(ctx);
  return isUuid(id) ? ctx.em.findOne(InboundReceipt, { id }) : null;
}

/** Source: section 4, inbound receipts and sources. */
@Resolver(() => InboundReceipt)
export class InboundResolver {
  @Access(READERS)
  @Query(() => InboundReceiptConnection, { description: 'Vendor calls that were taken, newest first.' })
  async inboundReceipts(
    @Args(() => InboundReceiptsArgs) args: InboundReceiptsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<InboundReceipt>> {
    await checkUnbound(ctx);
    const { source, topic, externalId, from, to } = args;
    const conditions: FilterQuery<InboundReceipt>[] = [
      ...(source == null ? [] : [{ source }]),
      ...(topic == null ? [] : [{ topic }]),
      ...(externalId == null ? [] : [{ externalId }]),
      ...(from == null ? [] : [{ receivedAt: { $gte: from } }]),
      ...(to == null ? [] : [{ receivedAt: { $lt: to } }]),
    ];
    return page(ctx.em, InboundReceipt, { $and: conditions }, args, { time: 'receivedAt' });
  }

  @Access(READERS)
  @Query(() => InboundReceipt, { nullable: true })
  inboundReceipt(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<InboundReceipt | null> {
    return findReceipt(ctx, id);
  }

  @Access(READERS)
  @Query(() => [InboundSource], { description: 'Vendors whose calls are taken.' })
  async inboundSources(@Ctx() ctx: Context): Promise<InboundSource[]> {
    await checkUnbound(ctx);
    const names = Object.keys(INBOUND_SOURCES) as InboundSourceName[];
    const rows = await ctx.sql<{ name: string; last: number | null; rejected: number }>(STATES, [names, ctx.now().toISOString()]);
    return names.map(name => {
      const { scheme, headers, toleranceSeconds } = INBOUND_SOURCES[name];
      const { last, rejected } = rows.find(row => row.name === name)!;
      const headerNames = Object.values(headers).filter(header => header !== null);
      const secrets = inboundSecrets(ctx.host.config, name).map(hintOf);
      return {
        name,
        scheme,
        headerNames,
        toleranceSeconds,
        lastReceivedAt: last === null ? null : new Date(last),
        rejected24h: rejected,
        secrets,
      };
    });
  }

  @Access(MANAGERS)
  @Mutation(() => InboundReceipt, { description: 'Emits the event of a receipt again, with a new event id.' })
  async replayInboundReceipt(
    @Arg('input', () => ReplayInboundReceiptInput) { id }: ReplayInboundReceiptInput,
    @Ctx() ctx: Context,
  ): Promise<InboundReceipt> {
    const receipt = (await findReceipt(ctx, id)) ?? fail('not_found', 'Not found');
    receipt.emittedEventId = emitReceived(ctx, receipt);
    receipt.status = 'replayed';
    ctx.audit('inbound_receipt.replayed', id, { event_id: receipt.emittedEventId });
    return receipt;
  }

  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: "What the vendor sent, for callers who may read the owner's data; null after an erasure. Reading it is audited.",
  })
  async body(@Root() { id, source, bodySealed }: InboundReceipt, @Ctx() ctx: Context): Promise<unknown> {
    if (!bodySealed || !mayReadBody(ctx, source)) return null;
    await audited(ctx, 'inbound_receipt.body_read', id);
    return JSON.parse(sealerOf(ctx.host).open(bodySealed, inboundContext(id))) as unknown;
  }
}
