import { createHash } from 'node:crypto';
import semver from 'semver';

/** What a flag is evaluated for. `attributes` are those of the flag's conditions besides brand and user. */
export interface FlagTarget {
  brandId?: string | null;
  userId?: string | null;
  attributes?: Readonly<Record<string, string | readonly string[]>>;
}

export type FlagValue = boolean | string;
export type FlagReason = 'STATIC' | 'DEFAULT' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED' | 'STALE' | 'ERROR';
export type FlagError = 'FLAG_NOT_FOUND' | 'TARGETING_KEY_MISSING' | 'TYPE_MISMATCH' | 'PROVIDER_NOT_READY' | 'INVALID_CONTEXT' | 'GENERAL';

/** Basis points of 10,000 per variant, in order; what is left over serves the off variant. */
export interface Rollout {
  variant: string;
  basisPoints: number;
}

export const FLAG_ATTRIBUTES = ['BRAND', 'USER', 'COUNTRY', 'LOCALE', 'ROLE', 'TIER', 'CLIENT', 'APP_VERSION'] as const;
export const FLAG_OPERATORS = ['IN', 'NOT_IN', 'GTE', 'LTE'] as const;

/** `GTE` and `LTE` compare one `APP_VERSION`, by semantic versioning. */
export interface FlagCondition {
  attribute: (typeof FLAG_ATTRIBUTES)[number];
  operator: (typeof FLAG_OPERATORS)[number];
  values: readonly string[];
}

/** Either a variant or a rollout. */
export interface FlagServe {
  variant?: string | null;
  rollout?: readonly Rollout[] | null;
}

/** A flag as the evaluator needs it: one row of a snapshot, never changed once made. Source: platform 2. */
export interface FlagDefinition {
  key: string;
  variants: readonly { name: string; value: FlagValue }[];
  offVariant: string;
  defaultRule: FlagServe;
  rules: readonly (FlagServe & { conditions: readonly FlagCondition[] })[];
  prerequisites: readonly { key: string; variant: string }[];
  enabled: boolean;
  killed: boolean;
  archived: boolean;
  failClosed: boolean;
  salt: string;
  revision: number;
}

export interface FlagSnapshot {
  revision: number;
  flags: ReadonlyMap<string, FlagDefinition>;
}

export interface FlagEvaluation {
  key: string;
  value: FlagValue | null;
  variant: string | null;
  reason: FlagReason;
  errorCode: FlagError | null;
  revision: number | null;
}

/** Basis points in a whole. */
const BUCKETS = 10_000;

/** Place of a user on the line of 10,000 buckets of one flag and brand. Source: platform 4.1. */
export const bucketOf = (key: string, salt: string, brandId: string, userId: string): number =>
  createHash('sha256').update(`${key}:${salt}:${brandId}:${userId}`).digest().readUInt32BE(0) % BUCKETS;

/** `1.10` is 1.10.0, `2.0.0-rc.1` is before `2.0.0`; null for what does not begin like a version. */
export const versionOf = (text: string): semver.SemVer | null =>
  /^v?\d/.test(text) ? semver.coerce(text, { includePrerelease: true }) : null;

/** A rule may list 1,000 values, and a set is made once per list: an evaluation stays under 50 µs. */
const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function setOf(values: readonly string[]): ReadonlySet<string> {
  let set = valueSets.get(values);
  if (!set) valueSets.set(values, (set = new Set(values)));
  return set;
}

function attributeOf({ attribute }: FlagCondition, target: FlagTarget): readonly string[] {
  if (attribute === 'BRAND') return target.brandId ? [target.brandId] : [];
  if (attribute === 'USER') return target.userId ? [target.userId] : [];
  const value = target.attributes?.[attribute] ?? [];
  return typeof value === 'string' ? [value] : value;
}

function compares({ operator, values }: FlagCondition, actual: string): boolean {
  const [version, bound] = [versionOf(actual), versionOf(values[0]!)];
  if (!version || !bound) return false;
  return operator === 'GTE' ? version.compare(bound) >= 0 : version.compare(bound) <= 0;
}

/** A condition on an absent attribute is false, `NOT_IN` included. */
export function holds(condition: FlagCondition, target: FlagTarget): boolean {
  const actual = attributeOf(condition, target);
  if (actual.length === 0) return false;
  if (condition.operator === 'IN') return actual.some(value => setOf(condition.values).has(value));
  if (condition.operator === 'NOT_IN') return !actual.some(value => setOf(condition.values).has(value));
  return compares(condition, actual[0]!);
}

type Names = ReadonlySet<string>;

const isRollout = (rollout: readonly Rollout[], names: Names): boolean =>
  rollout.every(({ variant, basisPoints }) => names.has(variant) && Number.isInteger(basisPoints) && basisPoints >= 0) &&
  rollout.reduce((sum, { basisPoints }) => sum + basisPoints, 0) <= BUCKETS;

function isServable({ variant, rollout }: FlagServe, names: Names): boolean {
  if (rollout == null) return variant != null && names.has(variant);
  return variant == null && isRollout(rollout, names);
}

const isCondition = ({ attribute, operator, values }: FlagCondition): boolean =>
  FLAG_ATTRIBUTES.includes(attribute) &&
  FLAG_OPERATORS.includes(operator) &&
  Array.isArray(values) &&
  (operator === 'IN' || operator === 'NOT_IN' || (attribute === 'APP_VERSION' && values.length === 1 && versionOf(values[0]) !== null));

function examine(flag: FlagDefinition): boolean {
  try {
    const names = new Set(flag.variants.map(({ name }) => name));
    const rules = flag.rules.every(rule => isServable(rule, names) && rule.conditions.every(isCondition));
    return (
      names.has(flag.offVariant) &&
      isServable(flag.defaultRule, names) &&
      rules &&
      flag.prerequisites.every(({ key, variant }) => key && variant)
    );
  } catch {
    return false; // not even of the right shape
  }
}

const examined = new WeakMap<FlagDefinition, boolean>();

/** Whether a flag can be evaluated: every variant that it serves exists, rollouts are at most 10,000, conditions are known ones. */
export function isSound(flag: FlagDefinition): boolean {
  const known = examined.get(flag);
  if (known !== undefined) return known;
  const sound = examine(flag);
  examined.set(flag, sound);
  return sound;
}

type Served = { variant: string; reason: FlagReason; errorCode: FlagError | null };

function split(flag: FlagDefinition, rollout: readonly Rollout[], target: FlagTarget): Served {
  if (!target.userId || !target.brandId) return { variant: flag.offVariant, reason: 'ERROR', errorCode: 'TARGETING_KEY_MISSING' };
  const bucket = bucketOf(flag.key, flag.salt, target.brandId, target.userId);
  let edge = 0;
  const hit = rollout.find(({ basisPoints }) => bucket < (edge += basisPoints));
  return { variant: hit?.variant ?? flag.offVariant, reason: 'SPLIT', errorCode: null };
}

function serve(flag: FlagDefinition, { variant, rollout }: FlagServe, reason: FlagReason, target: FlagTarget): Served {
  return rollout ? split(flag, rollout, target) : { variant: variant ?? flag.offVariant, reason, errorCode: null };
}

/** One evaluation: the target in a snapshot, and the keys on the way here, because a cycle of prerequisites is corrupt. */
interface Evaluation {
  snapshot: FlagSnapshot;
  target: FlagTarget;
  path: readonly string[];
}

function isMet(prerequisite: { key: string; variant: string }, { snapshot, target, path }: Evaluation): boolean {
  const flag = snapshot.flags.get(prerequisite.key);
  if (!flag || flag.archived) return false;
  if (path.includes(flag.key)) throw new Error(`${flag.key} is a prerequisite of itself`);
  return decide(flag, { snapshot, target, path: [...path, flag.key] }).variant === prerequisite.variant;
}

function decide(flag: FlagDefinition, evaluation: Evaluation): Served {
  const { target } = evaluation;
  const off: Served = { variant: flag.offVariant, reason: 'DISABLED', errorCode: null };
  if (flag.killed || !flag.enabled) return off;
  if (!isSound(flag)) throw new Error(`${flag.key} is corrupt`);
  if (!flag.prerequisites.every(prerequisite => isMet(prerequisite, evaluation))) return off;
  const rule = flag.rules.find(candidate => candidate.conditions.every(condition => holds(condition, target)));
  return rule ? serve(flag, rule, 'TARGETING_MATCH', target) : serve(flag, flag.defaultRule, 'DEFAULT', target);
}

function answer(flag: FlagDefinition, { variant, reason, errorCode }: Served): FlagEvaluation {
  const value = flag.variants?.find?.(candidate => candidate.name === variant)?.value ?? null;
  return { key: flag.key, value, variant, reason, errorCode, revision: flag.revision };
}

/** The off variant with a reason of the client's own. */
export const offEvaluation = (flag: FlagDefinition, errorCode: FlagError): FlagEvaluation =>
  answer(flag, { variant: flag.offVariant, reason: 'ERROR', errorCode });

/** A flag of which nothing is known: the caller's code default applies. */
export const noEvaluation = (key: string, errorCode: FlagError): FlagEvaluation => ({
  key,
  value: null,
  variant: null,
  reason: 'ERROR',
  errorCode,
  revision: null,
});

/**
 * Evaluates a flag in a snapshot: pure, never throws, the same in the platform service and in every client. Raising a rollout only
 * adds users, lowering it only removes. An unknown or archived flag has value null and `FLAG_NOT_FOUND`, a corrupt one its off
 * variant and `GENERAL`. Source: platform 4.1.
 */
export function evaluateFlag(snapshot: FlagSnapshot, key: string, target: FlagTarget): FlagEvaluation {
  const flag = snapshot.flags.get(key);
  if (!flag || flag.archived) return noEvaluation(key, 'FLAG_NOT_FOUND');
  try {
    return answer(flag, decide(flag, { snapshot, target, path: [key] }));
  } catch {
    return offEvaluation(flag, 'GENERAL');
  }
}
