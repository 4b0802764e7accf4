import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { logDose } from '../commands/dose.js';
import { DoseLog, DoseLogConnection } from '../entities/dose.js';
import { DosesArgs, LogDoseInput, MyDosesArgs } from '../inputs/dose.js';
import { listDoses } from '../queries/user-clinical.js';

@Resolver(() => DoseLog)
export class DoseResolver {
  @Access({ user: 'read:protocols' })
  @Query(() => DoseLogConnection, { description: 'Own doses, the latest first.' })
  myDoses(@Args(() => MyDosesArgs) args: MyDosesArgs, @Ctx() ctx: Context): Promise<Connection<DoseLog>> {
    return listDoses(ctx, [ctx.caller.userId!], args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['patient-graph', 'jobs', 'comms'] })
  @Query(() => DoseLogConnection, { description: 'Doses of up to 100 patients, the latest first.' })
  doses(@Args(() => DosesArgs) { userIds, ...args }: DosesArgs, @Ctx() ctx: Context): Promise<Connection<DoseLog>> {
    return listDoses(ctx, userIds, args);
  }

  @Access({ service: 'admin:clinical', user: 'write:protocols' })
  @Mutation(() => DoseLog, { description: 'A dose was taken or skipped; taken twice is the same dose.' })
  logDose(@Arg('input', () => LogDoseInput) input: LogDoseInput, @Ctx() ctx: Context): Promise<DoseLog> {
    return logDose(ctx, input);
  }
}
