import { createHash } from 'node:crypto';
import { DecisionArm, OffPolicyState, Ranker } from '../entities/enums.js';
import type { Bundle } from './bundle.js';
import { bestIndex, pointMass } from './exploration.js';
import { effectiveSampleSize, estimates, pairedLift, stateOf, weightsOf, type Estimate, type LoggedRow } from './off-policy.js';
import { distributionOf, rankerOf, type RankQuestion } from './ranking.js';
import { crossFit, type RewardModel } from './reward-model.js';
import { featureNames } from './training.js';
import { encode, own } from './values.js';

/** A logged decision with what it was decided on. */
export interface LoggedDecision {
  /** The question without a bundle. */
  question: Omit<RankQuestion, 'bundle'>;
  servedId: string;
  propensity: number;
  /** Candidate to its logged propensity. */
  propensities: Readonly<Record<string, number>>;
  reward: number;
  entityId: string;
}

/** A version to be evaluated, as it would serve at the stage of each decision. */
interface Target {
  rows: LoggedRow[];
  supportViolations: number;
}

/** Rows of one entity are in one fold, so that no model has seen the entity it predicts. */
const foldOf = (entityId: string): 0 | 1 => (createHash('sha256').update(entityId).digest()[0]! & 1) as 0 | 1;

/** A policy that explores is evaluated as it serves; a deterministic one is its best candidate. */
function targetDistribution(decision: LoggedDecision, bundle: Bundle): readonly number[] {
  const question: RankQuestion = { ...decision.question, arm: DecisionArm.TREATMENT, bundle };
  const { propensities } = distributionOf(question);
  return rankerOf(question) === Ranker.PASSTHROUGH ? pointMass(propensities.length, bestIndex(propensities)) : propensities;
}

function rowOf(decision: LoggedDecision, target: readonly number[], x: readonly number[], q: RewardModel): LoggedRow {
  const { candidates } = decision.question;
  const served = candidates.findIndex(({ id }) => id === decision.servedId);
  return {
    reward: decision.reward,
    propensity: decision.propensity,
    target: target[served]!,
    q: q(x, decision.servedId),
    expected: candidates.reduce((sum, { id }, index) => sum + target[index]! * q(x, id), 0),
    cluster: decision.entityId,
  };
}

/** An action that the version would take and that could not have been logged. */
const isUnsupported = ({ question, propensities }: LoggedDecision, target: readonly number[]): boolean =>
  question.candidates.some(({ id }, index) => target[index]! > 0 && !((own(propensities, id) ?? 0) > 0));

function targetOf(
  decisions: readonly LoggedDecision[],
  bundle: Bundle,
  xs: readonly (readonly number[])[],
  modelOf: (index: number) => RewardModel,
): Target {
  const targets = decisions.map(decision => targetDistribution(decision, bundle));
  return {
    rows: decisions.map((decision, index) => rowOf(decision, targets[index]!, xs[index]!, modelOf(index))),
    supportViolations: decisions.filter((decision, index) => isUnsupported(decision, targets[index]!)).length,
  };
}

export interface Comparison {
  estimators: Estimate[];
  liftOverTarget: { value: number; ciLow: number; ciHigh: number } | null;
  ess: number;
  maxWeight: number;
  n: number;
  supportViolations: number;
  state: OffPolicyState;
}

const NOTHING: Comparison = {
  estimators: [],
  liftOverTarget: null,
  ess: 0,
  maxWeight: 0,
  n: 0,
  supportViolations: 0,
  state: OffPolicyState.INCONCLUSIVE,
};

/** Rows that say something: the logging explored, or both policies agree on what was served. */
const informative = (decision: LoggedDecision, bundle: Bundle): boolean => {
  const served = decision.question.candidates.findIndex(({ id }) => id === decision.servedId);
  return served >= 0 && (decision.propensity < 1 || targetDistribution(decision, bundle)[served] === 1);
};

/** What a candidate bundle would have earned on logged decisions, beside the one that serves. Source: intelligence 7.2. */
export function compare(
  logged: readonly LoggedDecision[],
  candidate: Bundle,
  champion: Bundle,
  contextSchema: Readonly<Record<string, unknown>>,
): Comparison {
  const decisions = logged.filter(one => informative(one, candidate));
  if (decisions.length < 2) return NOTHING;
  const names = featureNames(contextSchema, {}, []).context.slice(1);
  const xs = decisions.map(({ question }) => encode(names, question, question.candidates[0]!));
  const data = decisions.map(({ servedId, reward }, index) => ({ action: servedId, x: xs[index]!, reward }));
  const modelOf = crossFit(data, index => foldOf(decisions[index]!.entityId));
  const [of, against] = [targetOf(decisions, candidate, xs, modelOf), targetOf(decisions, champion, xs, modelOf)];
  const weights = weightsOf(of.rows);
  const [ess, maxWeight] = [effectiveSampleSize(weights), Math.max(...weights)];
  return {
    estimators: estimates(of.rows),
    liftOverTarget: pairedLift(of.rows, against.rows),
    ess,
    maxWeight,
    n: decisions.length,
    supportViolations: of.supportViolations,
    state: stateOf(decisions.length, ess, maxWeight, of.supportViolations),
  };
}
