import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { readInboundBody } from '../commands/audited-reads.js';
import { replayReceipt } from '../commands/inbound.js';
import { InboundReceipt, InboundReceiptConnection, InboundSource } from '../entities/inbound.js';
import { MANAGERS, READERS } from '../entities/subscription.js';
import { InboundReceiptsArgs, ReplayInboundReceiptInput } from '../inputs/inbound.js';
import { findReceipt, listReceipts, listSources } from '../queries/inbound.js';

/** Source: section 4, inbound receipts and sources. */
@Resolver(() => InboundReceipt)
export class InboundResolver {
  @Access(READERS)
  @Query(() => InboundReceiptConnection, { description: 'Vendor calls that were taken, newest first.' })
  inboundReceipts(@Args(() => InboundReceiptsArgs) args: InboundReceiptsArgs, @Ctx() ctx: Context): Promise<Connection<InboundReceipt>> {
    return listReceipts(ctx, args);
  }

  @Access(READERS)
  @Query(() => InboundReceipt, { nullable: true })
  inboundReceipt(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<InboundReceipt | null> {
    return findReceipt(ctx, id);
  }

  @Access(READERS)
  @Query(() => [InboundSource], { description: 'Vendors whose calls are taken.' })
  inboundSources(@Ctx() ctx: Context): Promise<InboundSource[]> {
    return listSources(ctx);
  }

  @Access(MANAGERS)
  @Mutation(() => InboundReceipt, { description: 'Emits the event of a receipt again, with a new event id.' })
  replayInboundReceipt(
    @Arg('input', () => ReplayInboundReceiptInput) { id }: ReplayInboundReceiptInput,
    @Ctx() ctx: Context,
  ): Promise<InboundReceipt> {
    return replayReceipt(ctx, id);
  }

  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: "What the vendor sent, for callers who may read the owner's data; null after an erasure. Reading it is audited.",
  })
  body(@Root() receipt: InboundReceipt, @Ctx() ctx: Context): Promise<unknown> {
    return readInboundBody(ctx, receipt);
  }
}
