import semver from 'semver';
import type { Violation } from '../../../runtime/request/errors.js';
import { FeatureFlagValueType, FlagConditionAttribute, FlagConditionOperator, type FlagCondition } from '../entities/flag.js';
import { SEEDED_FLAGS } from './flag-change.js';
import type { FlagPatch, FlagState, RuleState, Serve } from './flag-state.js';
import { looksSecret } from './secrets.js';
import { WHOLE } from './stage.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Values of all conditions of a rule. */
const MAX_VALUES = 1000;

/** What a flag is checked against: the other flags that it needs, and the slugs of the suite. */
export interface FlagSurroundings {
  key: string;
  valueType: FeatureFlagValueType;
  /** Flags in use, this one left out. */
  others: ReadonlyMap<string, Pick<FlagState, 'variants' | 'prerequisites' | 'owner' | 'readers'>>;
  slugs: readonly string[];
}

const at = (pointer: string, message: string | false | null | undefined): Violation[] => (message ? [{ pointer, message }] : []);

function variantViolations({ variants, offVariant }: FlagState, valueType: FeatureFlagValueType): Violation[] {
  const names = variants.map(({ name }) => name);
  const type = valueType === FeatureFlagValueType.BOOLEAN ? 'boolean' : 'string';
  return [
    ...at('/variants', new Set(names).size < names.length && 'must have different names'),
    ...variants.flatMap(({ value }, index) => [
      ...at(`/variants/${index}/value`, typeof value !== type && `must be a ${type}`),
      ...at(`/variants/${index}/value`, typeof value === 'string' && looksSecret(value) && 'looks like a secret'),
    ]),
    ...at('/offVariant', !names.includes(offVariant) && 'is not among the variants'),
  ];
}

function serveViolations({ variant, rollout }: Serve, names: readonly string[], pointer: string): Violation[] {
  if ((variant == null) === (rollout == null)) return at(pointer, 'must have a variant or a rollout, and not both');
  if (variant != null) return at(`${pointer}/variant`, !names.includes(variant) && 'is not among the variants');
  const sum = rollout!.reduce((total, { basisPoints }) => total + basisPoints, 0);
  return [
    ...at(`${pointer}/rollout`, sum > WHOLE && `must be at most ${WHOLE} basis points in all`),
    ...at(`${pointer}/rollout`, new Set(rollout!.map(one => one.variant)).size < rollout!.length && 'names a variant twice'),
    ...rollout!.flatMap((one, index) =>
      at(`${pointer}/rollout/${index}/variant`, !names.includes(one.variant) && 'is not among the variants'),
    ),
  ];
}

const { BRAND, USER, APP_VERSION } = FlagConditionAttribute;
const COMPARISONS: readonly FlagConditionOperator[] = [FlagConditionOperator.GTE, FlagConditionOperator.LTE];

function conditionViolations({ attribute, operator, values }: FlagCondition, pointer: string): Violation[] {
  const ids = attribute === BRAND || attribute === USER;
  const compares = COMPARISONS.includes(operator);
  return [
    ...at(`${pointer}/operator`, compares && attribute !== APP_VERSION && 'compares an app version only'),
    ...at(`${pointer}/values`, compares && values.length !== 1 && 'must be one version'),
    ...values.flatMap((value, index) => [
      ...at(`${pointer}/values/${index}`, ids && !UUID.test(value) && 'must be an id'),
      ...at(`${pointer}/values/${index}`, compares && (!/^v?\d/.test(value) || semver.coerce(value) === null) && 'must be a version'),
    ]),
  ];
}

function ruleViolations(rule: RuleState, names: readonly string[], pointer: string): Violation[] {
  const values = rule.conditions.reduce((sum, condition) => sum + condition.values.length, 0);
  return [
    ...at(`${pointer}/conditions`, values > MAX_VALUES && `must have at most ${MAX_VALUES} values in all`),
    ...rule.conditions.flatMap((condition, index) => conditionViolations(condition, `${pointer}/conditions/${index}`)),
    ...serveViolations(rule, names, pointer),
  ];
}

/** Whether a flag can be reached over prerequisites. */
function leadsTo(key: string, from: readonly { key: string }[], others: FlagSurroundings['others'], seen = new Set<string>()): boolean {
  return from.some(({ key: next }) => {
    if (next === key) return true;
    if (seen.has(next)) return false;
    seen.add(next);
    return leadsTo(key, others.get(next)?.prerequisites ?? [], others, seen);
  });
}

function prerequisiteViolations(state: FlagState, { key, others }: FlagSurroundings): Violation[] {
  return state.prerequisites.flatMap((needed, index) => {
    const pointer = `/prerequisites/${index}`;
    const other = others.get(needed.key);
    if (needed.key === key || leadsTo(key, [needed], others)) return at(`${pointer}/key`, 'would make the flag a prerequisite of itself');
    if (!other) return at(`${pointer}/key`, 'is no flag in use');
    const blind = [state.owner, ...state.readers].filter(slug => slug !== other.owner && !other.readers.includes(slug));
    return [
      ...at(`${pointer}/variant`, !other.variants.some(({ name }) => name === needed.variant) && 'is not among the variants of that flag'),
      ...at(`${pointer}/key`, blind.length > 0 && `is not readable by ${blind.join(', ')}`),
    ];
  });
}

const slugViolations = ({ owner, readers }: FlagState, slugs: readonly string[]): Violation[] => [
  ...at('/owner', !slugs.includes(owner) && 'is no service'),
  ...readers.flatMap((slug, index) => at(`/readers/${index}`, !slugs.includes(slug) && 'is no service')),
];

/** Everything that is wrong with a flag; pointers are relative to the form that it came from. Source: platform 2. */
export function flagViolations(state: FlagState, surroundings: FlagSurroundings): Violation[] {
  const names = state.variants.map(({ name }) => name);
  return [
    ...variantViolations(state, surroundings.valueType),
    ...serveViolations(state.defaultRule, names, '/defaultRule'),
    ...state.rules.flatMap((rule, index) => ruleViolations(rule, names, `/rules/${index}`)),
    ...prerequisiteViolations(state, surroundings),
    ...slugViolations(state, surroundings.slugs),
  ];
}

/** Fields of the three seeded flags that stay as they are: others rely on them. */
const SETTLED = ['variants', 'offVariant', 'failClosed', 'protected', 'permanent', 'owner', 'prerequisites'] as const;

/** What a change may not touch of a seeded flag. Source: platform 4.2. */
export const settledViolations = (key: string, after: FlagPatch): Violation[] =>
  SEEDED_FLAGS.includes(key)
    ? SETTLED.filter(name => name in after).map(name => ({ pointer: `/${name}`, message: 'stays as it is for this flag' }))
    : [];
