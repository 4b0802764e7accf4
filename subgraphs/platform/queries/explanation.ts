import {
  bucketOf,
  evaluateFlag,
  holds,
  type FlagDefinition,
  type FlagSnapshot,
  type FlagTarget,
} from '../../../runtime/flags/evaluation.js';
import type { Context } from '../../../runtime/request/context.js';
import type { ExplainedPrerequisite, ExplainedRule, FlagExplanation } from '../entities/explanation.js';
import type { FlagCondition } from '../entities/flag.js';
import type { ExplainFlagArgs } from '../inputs/lists.js';
import { targetFor } from './evaluation.js';
import { currentFlags } from './snapshot.js';

function isAbsent({ attribute }: FlagCondition, { brandId, userId, attributes }: FlagTarget): boolean {
  if (attribute === 'BRAND') return !brandId;
  return attribute === 'USER' ? !userId : (attributes?.[attribute]?.length ?? 0) === 0;
}

function explainedRules({ rules }: FlagDefinition, target: FlagTarget): ExplainedRule[] {
  const first = rules.findIndex(({ conditions }) => conditions.every(condition => holds(condition, target)));
  return rules.map(({ conditions, variant = null, rollout = null }, position) => {
    const explained = (conditions as FlagCondition[]).map(condition => ({
      ...condition,
      holds: holds(condition, target),
      absent: isAbsent(condition, target),
    }));
    const matched = explained.every(one => one.holds);
    return { position, matched, decided: position === first, conditions: explained, variant, rollout: rollout as ExplainedRule['rollout'] };
  });
}

const explainedPrerequisites = (snapshot: FlagSnapshot, { prerequisites }: FlagDefinition, target: FlagTarget): ExplainedPrerequisite[] =>
  prerequisites.map(({ key, variant: needed }) => {
    const { variant: actual } = evaluateFlag(snapshot, key, target);
    return { key, needed, actual, met: actual === needed };
  });

/** Why a flag has its value for a brand and a user; null for an unknown flag. */
export async function explainFlag(ctx: Context, { key, brandId, userId, ...attributes }: ExplainFlagArgs): Promise<FlagExplanation | null> {
  const flags = await currentFlags(ctx);
  const flag = flags.flags.get(key);
  if (!flag) return null;
  const target = targetFor(brandId, userId, attributes);
  const rules = explainedRules(flag, target);
  return {
    evaluation: evaluateFlag(flags, key, target),
    bucket: target.brandId && target.userId ? bucketOf(key, flag.salt, target.brandId, target.userId) : null,
    enabled: flag.enabled,
    killed: flag.killed,
    prerequisites: explainedPrerequisites(flags, flag, target),
    rules,
    defaultDecided: rules.every(({ matched }) => !matched),
  };
}
