import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { cancelSync, startSync, syncBrand } from '../commands/sync.js';
import { SYNC_KEEPERS } from '../entities/access.js';
import { CommerceSyncFailure, CommerceSyncJob, CommerceSyncJobConnection } from '../entities/sync.js';
import { CommerceSyncsArgs, StartCommerceSyncInput } from '../inputs/sync.js';
import { failuresOf, syncsPage } from '../queries/sync.js';

@Resolver(() => CommerceSyncJob)
export class CommerceSyncResolver {
  @Access(SYNC_KEEPERS)
  @Prepare(syncBrand)
  @Mutation(() => CommerceSyncJob, { description: 'Begins an exchange with the storefront; one of a kind and brand at a time.' })
  startCommerceSync(
    @Arg('input', () => StartCommerceSyncInput) input: StartCommerceSyncInput,
    @Ctx() ctx: Context,
  ): Promise<CommerceSyncJob> {
    return startSync(ctx, input);
  }

  @Access(SYNC_KEEPERS)
  @Mutation(() => CommerceSyncJob, { description: 'Stops a run before its next record; what it has taken over stays.' })
  cancelCommerceSync(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommerceSyncJob> {
    return cancelSync(ctx, id);
  }

  @Access(SYNC_KEEPERS)
  @Query(() => CommerceSyncJob, { nullable: true })
  commerceSync(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommerceSyncJob | null> {
    return findRow(ctx, CommerceSyncJob, { id: id.toLowerCase() });
  }

  @Access(SYNC_KEEPERS)
  @Query(() => CommerceSyncJobConnection, { description: 'Runs, newest first.' })
  commerceSyncs(@Args(() => CommerceSyncsArgs) args: CommerceSyncsArgs, @Ctx() ctx: Context): Promise<Connection<CommerceSyncJob>> {
    return syncsPage(ctx, args);
  }

  @Access(SYNC_KEEPERS)
  @FieldResolver(() => [CommerceSyncFailure], { description: 'The first hundred records that were left out or failed, with the reason.' })
  failures(@Root() { id }: CommerceSyncJob, @Ctx() ctx: Context): Promise<CommerceSyncFailure[]> {
    return failuresOf(ctx, id);
  }
}
