import type { Violation } from '../../../runtime/request/errors.js';
import { EvaluationKind } from '../entities/enums.js';
import { binSums, calibrationOf, calibrationState } from './calibration.js';
import { effectiveSampleSize, estimates, stateOf, weightsOf, type LoggedRow } from './off-policy.js';
import { valueViolations } from './schemas.js';
import { own } from './values.js';

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
  return { ...Object.fromEntries(named), ess, max_weight: maxWeight, n: rows.length, state: stateOf(rows.length, ess, 0) };
}

interface CalibrationRow {
  predicted: number;
  reward: number;
}

function computeCalibration(rows: readonly CalibrationRow[]): Record<string, unknown> {
  const { n, ece, brier, realizedVsPredicted, slope, intercept, bins } = calibrationOf(binSums(rows));
  return { ece, brier, realized_vs_predicted: realizedVsPredicted, n, slope, intercept, bins, state: calibrationState(ece, n) };
}

/** Violations that are shown at most. */
const SHOWN = 100;

/** Probabilities of one decision sum to 1 as nearly as this. Source: intelligence 7.3.11. */
const TOLERANCE = 1e-6;

function sumViolations({ pi }: OpeRow, pointer: string): Violation[] {
  const sum = Object.values(pi).reduce((total, one) => total + one, 0);
  return Math.abs(sum - 1) <= TOLERANCE ? [] : [{ pointer: `${pointer}/pi`, message: 'must sum to 1' }];
}

function violationsOf(kind: EvaluationKind, row: Record<string, unknown>, pointer: string): Violation[] {
  const found = valueViolations(SHAPES[kind], row, pointer);
  return found.length === 0 && kind === EvaluationKind.OPE ? sumViolations(row as unknown as OpeRow, pointer) : found;
}

/** What is wrong with rows that a caller gives. */
export const rowViolations = (kind: EvaluationKind, rows: readonly Record<string, unknown>[]): Violation[] =>
  rows.flatMap((row, index) => violationsOf(kind, row, `/input/rows/${index}`)).slice(0, SHOWN);

/** The result of an evaluation of rows as they are given; they fit their shape. */
export const evaluateRows = (kind: EvaluationKind, rows: readonly unknown[]): Record<string, unknown> =>
  kind === EvaluationKind.OPE ? computeOpe(rows as readonly OpeRow[]) : computeCalibration(rows as readonly CalibrationRow[]);
