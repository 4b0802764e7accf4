import { createHash } from 'node:crypto';
import { DecisionArm, OffPolicyState, Ranker } from '../entities/enums.js';
import type { Bundle } from './bundle.js';
import { bestIndex, pointMass } from './exploration.js';
import { effectiveSampleSize, estimates, pairedLift, stateOf, weightsOf, type Estimate, type LoggedRow, type Lift } from './off-policy.js';
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

/** A logged decision as two versions weigh it. The question is left behind: of these there are many at once. */
export interface WeighedDecision {
  entityId: string;
  reward: number;
  propensity: number;
  /** Ids of the candidates, and which of them was served. */
  ids: readonly string[];
  served: number;
  x: readonly number[];
  /** What the two versions would have served, as probabilities of the candidates. */
  candidate: readonly number[];
  target: readonly number[];
  /** The candidate would take an action that could not have been logged. */
  isUnsupported: boolean;
}

/** Rows of one entity are in one fold, so that no model has seen the entity it predicts. */
const foldOf = (entityId: string): 0 | 1 => (createHash('sha256').update(entityId).digest()[0]! & 1) as 0 | 1;

/** A policy that explores is evaluated as it serves; a deterministic one is its best candidate. */
function targetDistribution(decision: LoggedDecision, bundle: Bundle): readonly number[] {
  const question: RankQuestion = { ...decision.question, arm: DecisionArm.TREATMENT, bundle };
  const { propensities } = distributionOf(question);
  return rankerOf(question) === Ranker.PASSTHROUGH ? pointMass(propensities.length, bestIndex(propensities)) : propensities;
}

/** An action that the version would take and that could not have been logged. */
const isUnsupported = ({ question, propensities }: LoggedDecision, target: readonly number[]): boolean =>
  question.candidates.some(({ id }, index) => target[index]! > 0 && !((own(propensities, id) ?? 0) > 0));

/** Weighs decisions by two versions; null for one that says nothing: the logging did not explore, and the candidate would not surely serve the same. */
export function weigher(
  candidate: Bundle,
  target: Bundle,
  contextSchema: Readonly<Record<string, unknown>>,
): (decision: LoggedDecision) => WeighedDecision | null {
  const names = featureNames(contextSchema, {}, []).context.slice(1);
  const lists = new Map<string, readonly string[]>(); // the same candidates come again: their names are kept once
  return decision => {
    const { question, servedId, propensity, reward, entityId } = decision;
    const list = question.candidates.map(({ id }) => id);
    const ids = lists.get(list.join('\n')) ?? list;
    if (ids === list) lists.set(list.join('\n'), list);
    const served = ids.indexOf(servedId);
    const of = targetDistribution(decision, candidate);
    if (served < 0 || (propensity >= 1 && of[served] !== 1)) return null;
    const x = encode(names, question, question.candidates[0]!);
    const against = targetDistribution(decision, target);
    return { entityId, reward, propensity, ids, served, x, candidate: of, target: against, isUnsupported: isUnsupported(decision, of) };
  };
}

function rowOf(decision: WeighedDecision, probabilities: readonly number[], q: RewardModel): LoggedRow {
  const { reward, propensity, ids, served, x, entityId } = decision;
  return {
    reward,
    propensity,
    target: probabilities[served]!,
    q: q(x, ids[served]!),
    expected: ids.reduce((sum, id, index) => sum + probabilities[index]! * q(x, id), 0),
    cluster: entityId,
  };
}

interface Comparison {
  estimators: Estimate[];
  /** The candidate minus the target by DR, with how sure it is; null below two entities. */
  lift: Lift | null;
  ess: number;
  maxWeight: number;
  n: number;
  supportViolations: number;
  state: OffPolicyState;
}

const NOTHING: Comparison = {
  estimators: [],
  lift: null,
  ess: 0,
  maxWeight: 0,
  n: 0,
  supportViolations: 0,
  state: OffPolicyState.INCONCLUSIVE,
};

const greatest = (weights: readonly number[]): number => weights.reduce((most, one) => Math.max(most, one), 0);

/** What a version would have earned on weighed decisions, beside another. Source: intelligence 7.2. */
export function compareWeighed(decisions: readonly WeighedDecision[]): Comparison {
  if (decisions.length < 2) return NOTHING;
  const data = decisions.map(({ ids, served, x, reward }) => ({ action: ids[served]!, x, reward }));
  const folds = decisions.map(({ entityId }) => foldOf(entityId));
  const modelOf = crossFit(data, index => folds[index]!);
  const of = decisions.map((one, index) => rowOf(one, one.candidate, modelOf(index)));
  const against = decisions.map((one, index) => rowOf(one, one.target, modelOf(index)));
  const weights = weightsOf(of);
  const [n, ess] = [decisions.length, effectiveSampleSize(weights)];
  const supportViolations = decisions.filter(one => one.isUnsupported).length;
  return {
    estimators: estimates(of),
    lift: pairedLift(of, against),
    ess,
    maxWeight: greatest(weights),
    n,
    supportViolations,
    state: stateOf(n, ess, supportViolations),
  };
}

/** What a candidate bundle would have earned on logged decisions, beside the one that serves. */
export const compare = (
  logged: readonly LoggedDecision[],
  candidate: Bundle,
  champion: Bundle,
  contextSchema: Readonly<Record<string, unknown>>,
): Comparison => compareWeighed(logged.map(weigher(candidate, champion, contextSchema)).filter(one => one !== null));
