import { FlagConditionAttribute, type FlagCondition } from '../entities/flag.js';

/** Conditions without a user: an emptied list stays, because a rule without its condition would hold for everybody. */
export const withoutUser = (conditions: readonly FlagCondition[], userId: string): FlagCondition[] =>
  conditions.map(condition =>
    condition.attribute === FlagConditionAttribute.USER
      ? { ...condition, values: condition.values.filter(value => value !== userId) }
      : condition,
  );

/** What stands for an erased user in change records. */
export const ERASED = 'erased';

/** A JSON value with every mention of a user's id blotted out, inside longer texts (`staff:<id>`) too. */
export function blotted<Value>(value: Value, userId: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll(userId, ERASED)) as Value;
}
