import { FlagConditionAttribute, type FlagDefaultRule } from '../entities/flag.js';
import type { FeatureFlagPatch, FlagConditionInput, FlagRuleInput, FlagServeInput } from '../inputs/flag.js';
import type { FlagPatch, RuleState } from '../rules/flag-state.js';

const IDS: readonly FlagConditionAttribute[] = [FlagConditionAttribute.BRAND, FlagConditionAttribute.USER];

/** Ids are compared as text, so they are kept in lower case. */
const conditionIn = ({ attribute, operator, values }: FlagConditionInput): RuleState['conditions'][number] => ({
  attribute,
  operator,
  values: IDS.includes(attribute) ? values.map(value => value.toLowerCase()) : [...values],
});

/** A default rule as it is stored: only what is given. */
export const serveIn = ({ variant, rollout }: FlagServeInput): FlagDefaultRule => ({
  ...(variant != null && { variant }),
  ...(rollout != null && { rollout: rollout.map(one => ({ ...one })) }),
});

/** Rules as they are stored. */
export const rulesIn = (rules: readonly FlagRuleInput[]): RuleState[] =>
  rules.map(({ conditions, serve, rollout }) => ({
    conditions: conditions.map(conditionIn),
    ...serveIn({ variant: serve?.variant ?? null, rollout: rollout ?? null }),
  }));

/** A patch as change records keep it. A null gives nothing, but for the end of a flag, which it takes away. */
export function patchOf({ defaultRule, rules, expiresOn, ...patch }: FeatureFlagPatch): FlagPatch {
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value != null));
  return {
    ...(JSON.parse(JSON.stringify(given)) as FlagPatch),
    ...(defaultRule != null && { defaultRule: serveIn(defaultRule) }),
    ...(rules != null && { rules: rulesIn(rules) }),
    ...(expiresOn !== undefined && { expiresOn }),
  };
}
