import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { countUsage } from '../commands/flag-usage.js';
import { FlagExplanation, FlagUsageReceipt, StaleFlag } from '../entities/explanation.js';
import { ReportFlagUsageInput } from '../inputs/evaluation.js';
import { ExplainFlagArgs } from '../inputs/lists.js';
import { explainFlag } from '../queries/explanation.js';
import { staleFlags } from '../queries/flags.js';

@Resolver(() => FlagExplanation)
export class FlagInsightResolver {
  @Access({ staff: 'admin:platform:read' })
  @Query(() => FlagExplanation, {
    nullable: true,
    description: 'Why a flag has its value for a brand and a user: each rule, matched or not, and the bucket.',
  })
  explainFlag(@Args(() => ExplainFlagArgs) args: ExplainFlagArgs, @Ctx() ctx: Context): Promise<FlagExplanation | null> {
    return explainFlag(ctx, args);
  }

  @Access({ staff: 'admin:platform:read' })
  @Query(() => [StaleFlag], { description: 'Flags past their end, or with one result for everybody for 30 days; permanent ones excepted.' })
  staleFlags(@Ctx() ctx: Context): Promise<StaleFlag[]> {
    return staleFlags(ctx);
  }

  @Access({ service: '*' })
  @Mutation(() => FlagUsageReceipt, { description: 'Adds to the counters of evaluations; never users.' })
  reportFlagUsage(@Arg('input', () => ReportFlagUsageInput) input: ReportFlagUsageInput, @Ctx() ctx: Context): Promise<FlagUsageReceipt> {
    return countUsage(ctx, input);
  }
}
