import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { ComputedEvaluation, OffPolicyEvaluation } from '../entities/evaluation.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion } from '../entities/registry.js';
import { EvaluationKind, READERS } from '../entities/enums.js';
import { ComputeEvaluationInput, EvaluateRegistryVersionInput } from '../inputs/policy.js';
import { binSums, calibrationOf, calibrationState } from '../rules/calibration.js';
import { compare } from '../rules/evaluation.js';
import { effectiveSampleSize, estimates, stateOf, weightsOf, type LoggedRow } from '../rules/off-policy.js';
import { valueViolations } from '../rules/schemas.js';
import { own } from '../rules/values.js';
import { loggedWindow } from '../queries/logged-decisions.js';
import { bundleOf, championOf, versionOf } from '../commands/registry-store.js';
import { DAY_MS } from '../queries/settings.js';

const share = { type: 'number', minimum: 0, maximum: 1 };
const byAction = { type: 'object', additionalProperties: share };
const SHAPES = {
  [EvaluationKind.OPE]: {
    type: 'object',
    properties: {
      action: { type: 'string', maxLength: 128 },
      reward: { type: 'number' },
      propensity: { ...share, exclusiveMinimum: 0 },
      pi: byAction,
      q: byAction,
    },
    required: ['action', 'reward', 'propensity', 'pi', 'q'],
  },
  [EvaluationKind.CALIBRATION]: { type: 'object', properties: { predicted: share, reward: share }, required: ['predicted', 'reward'] },
};

interface OpeRow {
  action: string;
  reward: number;
  propensity: number;
  pi: Record<string, number>;
  q: Record<string, number>;
}

const loggedRow = ({ action, reward, propensity, pi, q }: OpeRow): LoggedRow => ({
  reward,
  propensity,
  target: own(pi, action) ?? 0,
  q: own(q, action) ?? 0,
  expected: Object.entries(pi).reduce((sum, [other, probability]) => sum + probability * (own(q, other) ?? 0), 0),
});

/** Estimators by name, for the rows as they are given. */
function computeOpe(rows: readonly OpeRow[]): Record<string, unknown> {
  const logged = rows.map(loggedRow);
  const weights = weightsOf(logged);
  const [ess, maxWeight] = [effectiveSampleSize(weights), Math.max(...weights)];
  const named = estimates(logged).map(
    ({ name, value, se, ciLow, ciHigh }) => [name, { value, se, ci_low: ciLow, ci_high: ciHigh }] as const,
  );
  return { ...Object.fromEntries(named), ess, max_weight: maxWeight, n: rows.length, state: stateOf(rows.length, ess, maxWeight, 0) };
}

function computeCalibration(rows: readonly { predicted: number; reward: number }[]): Record<string, unknown> {
  const { n, ece, brier, realizedVsPredicted, slope, intercept, bins } = calibrationOf(binSums(rows));
  return { ece, brier, realized_vs_predicted: realizedVsPredicted, n, slope, intercept, bins, state: calibrationState(ece, n) };
}

function rowViolations({ kind, rows }: ComputeEvaluationInput): Violation[] {
  return rows.flatMap((row, index) => valueViolations(SHAPES[kind], row, `/input/rows/${index}`)).slice(0, 100);
}

@Resolver()
export class EvaluationResolver {
  @Access(READERS)
  @Query(() => OffPolicyEvaluation, { nullable: true })
  async offPolicyEvaluation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OffPolicyEvaluation | null> {
    return isUuid(id) ? ctx.em.findOne(OffPolicyEvaluation, { id }) : null;
  }

  @Access(READERS)
  @Mutation(() => OffPolicyEvaluation, {
    description: 'What a version would have earned on logged decisions, beside the champion or another version.',
  })
  async evaluateRegistryVersion(
    @Arg('input', () => EvaluateRegistryVersionInput) input: EvaluateRegistryVersionInput,
    @Ctx() ctx: Context,
  ): Promise<OffPolicyEvaluation> {
    const version = (isUuid(input.id) ? await ctx.em.findOne(RegistryVersion, { id: input.id }) : null) ?? fail('not_found', 'Not found');
    const { policyId } = version;
    const target = input.targetVersion == null ? await championOf(ctx, policyId) : await versionOf(ctx, policyId, input.targetVersion);
    const bundles = [await bundleOf(ctx, version), await bundleOf(ctx, target)] as const;
    if (!bundles[0] || !bundles[1]) fail('conflict', 'The artefact of a version was erased', { reason: 'artifact_erased' });
    const windowTo = input.to ?? ctx.now();
    const from = input.from ?? new Date(windowTo.getTime() - 365 * DAY_MS);
    if (from > windowTo) invalid('/input/to', 'is before from');
    const { contextSchema } = await ctx.em.findOneOrFail(RankingPolicy, { id: policyId });
    const { decisions, from: windowFrom, unjoined } = await loggedWindow(ctx, policyId, from, windowTo);
    const found = compare(decisions, bundles[0]!, bundles[1]!, contextSchema);
    const evaluation = Object.assign(new OffPolicyEvaluation(), {
      policyId,
      candidateVersion: version.number,
      targetVersion: target.number,
      unjoined,
      ...found,
      windowFrom,
      windowTo,
      createdAt: ctx.now(),
    });
    ctx.em.persist(evaluation);
    ctx.audit('registry_version.evaluated', version.id, { target: target.number, state: found.state });
    return evaluation;
  }

  @Access(READERS)
  @Query(() => ComputedEvaluation, { description: 'Evaluates given rows; stores nothing.' })
  computeEvaluation(@Arg('input', () => ComputeEvaluationInput) input: ComputeEvaluationInput): ComputedEvaluation {
    const errors = rowViolations(input);
    requireValid(errors);
    return { result: input.kind === EvaluationKind.OPE ? computeOpe(input.rows as never) : computeCalibration(input.rows as never) };
  }
}
