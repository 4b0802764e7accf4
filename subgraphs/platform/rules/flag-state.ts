import type {
  FeatureFlag,
  FeatureFlagKind,
  FlagCondition,
  FlagDefaultRule,
  FlagPrerequisite,
  FlagRollout,
  FlagVariant,
} from '../entities/flag.js';

/** What a rule serves: a variant or a rollout. */
export interface Serve {
  variant?: string | null;
  rollout?: readonly FlagRollout[] | null;
}

/** A rule as it is kept in change records: without id and position, which is its index in the list. */
export interface RuleState extends Serve {
  conditions: readonly FlagCondition[];
}

/** All of a flag that a change can touch. Key, salt, value type and guard never change. */
export interface FlagState {
  description: string;
  kind: FeatureFlagKind;
  variants: readonly FlagVariant[];
  offVariant: string;
  defaultRule: FlagDefaultRule;
  rules: readonly RuleState[];
  prerequisites: readonly FlagPrerequisite[];
  enabled: boolean;
  killed: boolean;
  archived: boolean;
  failClosed: boolean;
  protected: boolean;
  permanent: boolean;
  expiresOn: string | null;
  owner: string;
  readers: readonly string[];
}

export type FlagPatch = Partial<FlagState>;

/** Whichever of the two is given. */
const serveOf = ({ variant, rollout }: Serve): Serve => ({ ...(variant != null && { variant }), ...(rollout != null && { rollout }) });

/** A flag and its rules, in their order, as one value. */
export function stateOf(flag: FeatureFlag, rules: readonly RuleState[]): FlagState {
  const { description, kind, variants, offVariant, defaultRule, prerequisites, enabled, killed, failClosed, permanent } = flag;
  return {
    description,
    kind,
    variants,
    offVariant,
    defaultRule: serveOf(defaultRule) as FlagDefaultRule,
    rules: rules.map(rule => ({ conditions: rule.conditions, ...serveOf(rule) })),
    prerequisites,
    enabled,
    killed,
    archived: flag.archivedAt !== null,
    failClosed,
    protected: flag.protected,
    permanent,
    expiresOn: flag.expiresOn,
    owner: flag.owner,
    readers: flag.readers,
  };
}

/** JSON with sorted keys: two values are the same when this is. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, inner: unknown) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

export const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** The part of a patch that differs from a flag, and what stood there. */
export function differenceOf(state: FlagState, patch: FlagPatch): { before: FlagPatch; after: FlagPatch } {
  const names = (Object.keys(patch) as (keyof FlagState)[]).filter(name => patch[name] !== undefined && !isSame(patch[name], state[name]));
  const pick = (from: FlagPatch): FlagPatch => Object.fromEntries(names.map(name => [name, from[name]]));
  return { before: pick(state), after: pick(patch) };
}
