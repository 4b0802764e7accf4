import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { requireValid } from '../../../runtime/request/errors.js';
import { evaluateVersion } from '../commands/evaluation.js';
import { READERS } from '../entities/access.js';
import { ComputedEvaluation, OffPolicyEvaluation } from '../entities/evaluation.js';
import { ComputeEvaluationInput, EvaluateRegistryVersionInput } from '../inputs/policy.js';
import { evaluateRows, rowViolations } from '../rules/given-rows.js';

@Resolver()
export class EvaluationResolver {
  @Access(READERS)
  @Query(() => OffPolicyEvaluation, { nullable: true })
  offPolicyEvaluation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OffPolicyEvaluation | null> {
    return findRow(ctx, OffPolicyEvaluation, { id });
  }

  @Access(READERS)
  @Mutation(() => OffPolicyEvaluation, {
    description: 'What a version would have earned on logged decisions, beside the champion or another version.',
  })
  evaluateRegistryVersion(
    @Arg('input', () => EvaluateRegistryVersionInput) input: EvaluateRegistryVersionInput,
    @Ctx() ctx: Context,
  ): Promise<OffPolicyEvaluation> {
    return evaluateVersion(ctx, input);
  }

  @Access(READERS)
  @Query(() => ComputedEvaluation, { description: 'Evaluates given rows; stores nothing.' })
  computeEvaluation(@Arg('input', () => ComputeEvaluationInput) { kind, rows }: ComputeEvaluationInput): ComputedEvaluation {
    requireValid(rowViolations(kind, rows));
    return { result: evaluateRows(kind, rows) };
  }
}
