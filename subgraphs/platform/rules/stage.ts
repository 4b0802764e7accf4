import { isSame, type FlagState, type Serve } from './flag-state.js';

/** Basis points in a whole. */
export const WHOLE = 10_000;

/** What the holder of a bucket is served; null stands for a caller without user or brand. */
export function variantAt({ variant, rollout }: Serve, bucket: number | null, offVariant: string): string {
  if (!rollout) return variant ?? offVariant;
  if (bucket === null) return offVariant;
  let edge = 0;
  return rollout.find(({ basisPoints }) => bucket < (edge += basisPoints))?.variant ?? offVariant;
}

/** First buckets of the ranges of a rollout. */
function edgesOf({ rollout }: Serve): number[] {
  let edge = 0;
  return [0, ...(rollout ?? []).map(({ basisPoints }) => (edge += basisPoints))].filter(first => first < WHOLE);
}

const isOff = ({ enabled, killed, archived }: FlagState): boolean => !enabled || killed || archived;

/** Everything that a flag may serve to somebody, in the order of its rules; the default rule last. */
const servesOf = (state: FlagState): Serve[] => {
  if (isOff(state)) return [{ variant: state.offVariant }];
  const ruled: Serve[] = [...state.rules, state.defaultRule];
  return state.prerequisites.length ? [...ruled, { variant: state.offVariant }] : ruled;
};

/** The same conditions in the same order: then nobody moves from one rule to another. */
const isParallel = (before: FlagState, after: FlagState): boolean =>
  !isOff(before) &&
  !isOff(after) &&
  isSame(before.prerequisites, after.prerequisites) &&
  isSame(
    before.rules.map(({ conditions }) => conditions),
    after.rules.map(({ conditions }) => conditions),
  );

function pairsOf(before: FlagState, after: FlagState): [Serve, Serve][] {
  const [old, fresh] = [servesOf(before), servesOf(after)];
  if (isParallel(before, after)) return old.map((serve, index) => [serve, fresh[index]!]);
  return old.flatMap(one => fresh.map((other): [Serve, Serve] => [one, other]));
}

/** How far a change lifts somebody: the highest stage that is new to anybody, and the most steps that anybody takes. */
export interface Rise {
  to: string;
  steps: number;
}

/**
 * The lift of a change of a staged flag, null for none. A user keeps the bucket, so where the rules are the same two rollouts are
 * compared bucket by bucket; where conditions differ, everybody may come from any old rule to any new one. Source: platform 4.2.
 */
export function riseOf(before: FlagState, after: FlagState): Rise | null {
  const stages = before.variants.map(({ name }) => name);
  const stageAt = (serve: Serve, bucket: number | null): number => stages.indexOf(variantAt(serve, bucket, before.offVariant));
  const moves = pairsOf(before, after).flatMap(([old, fresh]) =>
    [null, ...edgesOf(old), ...edgesOf(fresh)].map(bucket => ({ from: stageAt(old, bucket), to: stageAt(fresh, bucket) })),
  );
  const lifts = moves.filter(({ from, to }) => to > from);
  if (lifts.length === 0) return null;
  return { to: stages[Math.max(...lifts.map(({ to }) => to))]!, steps: Math.max(...lifts.map(({ from, to }) => to - from)) };
}

/** Fields with which a stage is lowered. */
const LOWERING: readonly string[] = ['enabled', 'defaultRule', 'rules'];

/** A change that only lowers: at once and without approval. Source: platform 4.2, rule 5. */
export const isLowering = (before: FlagState, after: FlagState, changed: readonly string[]): boolean =>
  changed.length > 0 && changed.every(name => LOWERING.includes(name)) && riseOf(before, after) === null;
