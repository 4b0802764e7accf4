import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { submitCheckIn } from '../commands/check-in.js';
import { CheckIn, CheckInConnection, CheckInTemplate } from '../entities/check-in.js';
import { MyCheckInsArgs, SubmitCheckInInput } from '../inputs/check-in.js';
import { listCheckIns } from '../queries/user-clinical.js';

@Resolver(() => CheckIn)
export class CheckInResolver {
  @Access({ user: 'read:check_ins' })
  @Query(() => CheckInConnection, { description: 'Own check-ins, newest first.' })
  myCheckIns(@Args(() => MyCheckInsArgs) args: MyCheckInsArgs, @Ctx() ctx: Context): Promise<Connection<CheckIn>> {
    return listCheckIns(ctx, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['comms'] })
  @Query(() => CheckIn, { nullable: true, description: 'One check-in.' })
  checkIn(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CheckIn | null> {
    return findRow(ctx, CheckIn, { id });
  }

  @FieldResolver(() => CheckInTemplate)
  template(@Root() checkIn: CheckIn, @Ctx() ctx: Context): Promise<CheckInTemplate | null> {
    return loadRow(ctx, CheckInTemplate, 'id', checkIn.templateId);
  }

  @Access({ service: 'admin:clinical', user: 'write:check_ins' })
  @Mutation(() => CheckIn, { description: 'Answers a check-in that is due, or skips it.' })
  submitCheckIn(@Arg('input', () => SubmitCheckInInput) input: SubmitCheckInInput, @Ctx() ctx: Context): Promise<CheckIn> {
    return submitCheckIn(ctx, input);
  }
}
