import type { Violation } from '../../../runtime/request/errors.js';
import { valueViolations } from './schemas.js';

const number = { type: 'number' };
const numbers = { type: 'array', items: number };
const names = { type: 'array', items: { type: 'string', minLength: 1, maxLength: 400 }, maxItems: 1000 };
const closed = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const mapOf = (item: object): object => ({ type: 'object', additionalProperties: item });

const COUNTS = closed({ s: { type: 'number', minimum: 0 }, c: { type: 'number', minimum: 0 } }, ['s', 'c']);
const BETA = closed({ alpha: { type: 'number', exclusiveMinimum: 0 }, beta: { type: 'number', exclusiveMinimum: 0 } }, ['alpha', 'beta']);
const PLATT = closed({ a: number, b: number }, ['a', 'b']);
const RULE = closed({ when: {}, add: number }, ['when', 'add']);
const ARM = closed({ a_inv: { type: 'array', items: numbers }, theta: numbers }, ['a_inv', 'theta']);

/** Shape of each part. Source: intelligence 2, bundle parts. */
const BUNDLE = closed(
  {
    rules: closed({ rules: { type: 'array', items: RULE, maxItems: 500 }, denylist: names }, ['rules', 'denylist']),
    popularity: closed({ prior_strength: { type: 'number', exclusiveMinimum: 0 }, global: mapOf(COUNTS), segments: mapOf(mapOf(COUNTS)) }, [
      'prior_strength',
      'global',
      'segments',
    ]),
    logistic: closed({ features: names, weights: numbers, intercept: number, calibration: PLATT }, ['features', 'weights', 'intercept']),
    thompson: closed({ segments: mapOf(mapOf(BETA)), default: BETA }, ['segments', 'default']),
    linucb: closed({ alpha: { type: 'number', minimum: 0 }, features: names, arms: mapOf(ARM) }, ['alpha', 'features', 'arms']),
    calibration: PLATT,
  },
  [],
);

/** Operators of JSON logic that only look and compare: no method calls, no logging. Source: jsonlogic.com/operations. */
const OPERATORS = new Set([
  'var',
  'missing',
  'missing_some',
  'if',
  '==',
  '===',
  '!=',
  '!==',
  '!',
  '!!',
  'or',
  'and',
  '>',
  '>=',
  '<',
  '<=',
  'max',
  'min',
  '+',
  '-',
  '*',
  '/',
  '%',
  'in',
]);

const MAX_DEPTH = 20;

/** What a rule may not say, with where. */
function logicViolations(logic: unknown, pointer: string, depth = 0): Violation[] {
  if (depth > MAX_DEPTH) return [{ pointer, message: 'is nested too deeply' }];
  if (Array.isArray(logic)) return logic.flatMap((one, index) => logicViolations(one, `${pointer}/${index}`, depth + 1));
  if (logic === null || typeof logic !== 'object') return [];
  const keys = Object.keys(logic);
  if (keys.length !== 1 || !OPERATORS.has(keys[0]!))
    return [{ pointer, message: `must be one of the operators ${[...OPERATORS].join(' ')}` }];
  return logicViolations((logic as Record<string, unknown>)[keys[0]!], `${pointer}/${keys[0]}`, depth + 1);
}

interface Sized {
  rules?: { rules: readonly { when: unknown }[] };
  logistic?: { features: readonly string[]; weights: readonly number[] };
  linucb?: { features: readonly string[]; arms: Record<string, { a_inv: readonly (readonly number[])[]; theta: readonly number[] }> };
}

/** Matrices and vectors have the size of their features. */
function sizeViolations({ logistic, linucb }: Sized, pointer: string): Violation[] {
  const found: Violation[] = [];
  if (logistic && logistic.weights.length !== logistic.features.length)
    found.push({ pointer: `${pointer}/logistic/weights`, message: 'must have one weight per feature' });
  const size = linucb?.features.length ?? 0;
  for (const [id, { a_inv, theta }] of Object.entries(linucb?.arms ?? {})) {
    const square = a_inv.length === size && a_inv.every(row => row.length === size);
    if (!square || theta.length !== size)
      found.push({ pointer: `${pointer}/linucb/arms/${id}`, message: 'must have the size of the features' });
  }
  return found;
}

/** Every violation of a bundle's parameters. */
export function bundleViolations(parameters: unknown, pointer: string): Violation[] {
  const shape = valueViolations(BUNDLE, parameters, pointer);
  if (shape.length) return shape;
  const bundle = parameters as Sized;
  const rules = bundle.rules?.rules.flatMap(({ when }, index) => logicViolations(when, `${pointer}/rules/rules/${index}/when`)) ?? [];
  return [...rules, ...sizeViolations(bundle, pointer)];
}
