import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { syncCharge } from '../commands/telehealth.js';
import { staffWith } from '../entities/access.js';
import { TelehealthSyncResult } from '../entities/operations.js';
import { SyncTelehealthChargeInput } from '../inputs/operations.js';

@Resolver(() => TelehealthSyncResult)
export class TelehealthResolver {
  @Access(staffWith('sync'))
  @Mutation(() => TelehealthSyncResult, {
    description: 'Mirrors a charge of the telehealth partner; what is older or tells less changes nothing.',
  })
  syncTelehealthCharge(
    @Arg('input', () => SyncTelehealthChargeInput) input: SyncTelehealthChargeInput,
    @Ctx() ctx: Context,
  ): Promise<TelehealthSyncResult> {
    return syncCharge(ctx, input);
  }
}
