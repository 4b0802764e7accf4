import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { requestErasure } from '../commands/erasure-request.js';
import { linkCard } from '../commands/unfurl.js';
import { ANY_TOKEN, ERASERS, SYNC_KEEPERS } from '../entities/access.js';
import { CommerceErasure, CommerceReconciliation, LinkCard } from '../entities/sync.js';
import { CommerceErasureInput, UnfurlLinkInput } from '../inputs/sync.js';
import { reconcile } from '../queries/reconciliation.js';

@Resolver(() => CommerceErasure)
export class AdministrationResolver {
  @Access(ERASERS)
  @Mutation(() => CommerceErasure, { description: 'Forgets a user; orders keep their amounts. Again: the same record.' })
  requestCommerceErasure(
    @Arg('input', () => CommerceErasureInput) input: CommerceErasureInput,
    @Ctx() ctx: Context,
  ): Promise<CommerceErasure> {
    return requestErasure(ctx, input);
  }

  @Access(SYNC_KEEPERS)
  @Query(() => CommerceErasure, { nullable: true })
  commerceErasure(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommerceErasure | null> {
    return findRow(ctx, CommerceErasure, { id: id.toLowerCase() });
  }

  @Access(SYNC_KEEPERS)
  @Query(() => CommerceReconciliation, {
    description: 'Orders of a period that break a promise, and stock that differs from its movements.',
  })
  commerceReconciliation(
    @Arg('from', () => DateTime) from: Date,
    @Arg('to', () => DateTime) to: Date,
    @Ctx() ctx: Context,
  ): Promise<CommerceReconciliation> {
    return reconcile(ctx, from, to);
  }

  @Access(ANY_TOKEN)
  @Prepare(linkCard)
  @Mutation(() => LinkCard, { description: 'What is behind an address, in short.' })
  unfurlLink(@Arg('input', () => UnfurlLinkInput) _input: UnfurlLinkInput, @Ctx() ctx: Context): LinkCard {
    return linkCard.of(ctx);
  }
}
