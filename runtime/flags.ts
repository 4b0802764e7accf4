import { createHash } from 'node:crypto';

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

export interface FlagCondition {
  attribute: 'BRAND' | 'USER' | 'COUNTRY' | 'LOCALE' | 'ROLE' | 'TIER' | 'CLIENT' | 'APP_VERSION';
  operator: 'IN' | 'NOT_IN' | 'GTE' | 'LTE';
  values: readonly string[];
}

export interface FlagServe {
  variant?: string | null;
  rollout?: readonly Rollout[] | null;
}

/** A flag as the evaluator needs it: one row of a snapshot. Source: platform 2. */
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

const BUCKETS = 10_000;

/** Place of a user on the line of 10,000 buckets of one flag and brand. Source: platform 4.1. */
export const bucketOf = (key: string, salt: string, brandId: string, userId: string): number =>
  createHash('sha256').update(`${key}:${salt}:${brandId}:${userId}`).digest().readUInt32BE(0) % BUCKETS;

function attributeOf(condition: FlagCondition, target: FlagTarget): readonly string[] | null {
  if (condition.attribute === 'BRAND') return target.brandId ? [target.brandId] : null;
  if (condition.attribute === 'USER') return target.userId ? [target.userId] : null;
  const value = target.attributes?.[condition.attribute];
  if (value === undefined) return null;
  return typeof value === 'string' ? [value] : value;
}

const versionParts = (version: string): number[] => version.split(/[.+-]/).map(part => Number.parseInt(part, 10) || 0);

/** Order of dotted versions by their numbers: `1.10.0` is after `1.9.2`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)];
  const length = Math.max(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

/** A condition on an absent attribute is false, `NOT_IN` included. */
function holds(condition: FlagCondition, target: FlagTarget): boolean {
  const actual = attributeOf(condition, target);
  if (actual === null || actual.length === 0) return false;
  if (condition.operator === 'IN') return actual.some(value => condition.values.includes(value));
  if (condition.operator === 'NOT_IN') return !actual.some(value => condition.values.includes(value));
  const order = compareVersions(actual[0]!, condition.values[0] ?? '0');
  return condition.operator === 'GTE' ? order >= 0 : order <= 0;
}

type Served = { variant: string; reason: FlagReason; errorCode: FlagError | null };

function split(flag: FlagDefinition, rollout: readonly Rollout[], target: FlagTarget): Served {
  if (!target.userId || !target.brandId) return { variant: flag.offVariant, reason: 'ERROR', errorCode: 'TARGETING_KEY_MISSING' };
  const bucket = bucketOf(flag.key, flag.salt, target.brandId, target.userId);
  let edge = 0;
  const hit = rollout.find(({ basisPoints }) => bucket < (edge += basisPoints));
  return { variant: hit?.variant ?? flag.offVariant, reason: 'SPLIT', errorCode: null };
}

function serve(flag: FlagDefinition, served: FlagServe, reason: FlagReason, target: FlagTarget): Served {
  if (served.rollout?.length) return split(flag, served.rollout, target);
  return { variant: served.variant ?? flag.offVariant, reason, errorCode: null };
}

function decide(flag: FlagDefinition, snapshot: FlagSnapshot, target: FlagTarget): Served {
  const off: Served = { variant: flag.offVariant, reason: 'DISABLED', errorCode: null };
  if (flag.killed || !flag.enabled) return off;
  const unmet = flag.prerequisites.some(({ key, variant }) => evaluateFlag(snapshot, key, target).variant !== variant);
  if (unmet) return off;
  const rule = flag.rules.find(candidate => candidate.conditions.every(condition => holds(condition, target)));
  return rule ? serve(flag, rule, 'TARGETING_MATCH', target) : serve(flag, flag.defaultRule, 'DEFAULT', target);
}

/**
 * Evaluates a flag in a snapshot: pure, the same in the platform service and in every client. Raising a rollout only adds
 * users, lowering it only removes. An unknown or archived flag has value null and `FLAG_NOT_FOUND`. Source: platform 4.1.
 */
export function evaluateFlag(snapshot: FlagSnapshot, key: string, target: FlagTarget): FlagEvaluation {
  const flag = snapshot.flags.get(key);
  if (!flag || flag.archived) return { key, value: null, variant: null, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND', revision: null };
  const { variant, reason, errorCode } = decide(flag, snapshot, target);
  const value = flag.variants.find(candidate => candidate.name === variant)?.value ?? null;
  return { key, value, variant, reason, errorCode, revision: flag.revision };
}
