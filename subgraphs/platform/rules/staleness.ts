import { FlagStaleness } from '../entities/explanation.js';
import type { FlagState } from './flag-state.js';
import { WHOLE } from './stage.js';

/** How long one result for everybody is a sign that the flag has done its work, days. */
export const ONE_RESULT_DAYS = 30;

type Served = { variant?: string | null; rollout?: readonly { variant: string; basisPoints: number }[] | null };

const variantsOf = ({ variant, rollout }: Served, offVariant: string): string[] => {
  if (!rollout) return [variant ?? offVariant];
  const sum = rollout.reduce((total, { basisPoints }) => total + basisPoints, 0);
  return [...rollout.filter(({ basisPoints }) => basisPoints > 0).map(one => one.variant), ...(sum < WHOLE ? [offVariant] : [])];
};

/** Whether a flag, as it stands, serves one and the same variant to everybody. */
function servesOne(state: FlagState): boolean {
  if (!state.enabled || state.killed) return true;
  const served = [...state.rules, state.defaultRule].flatMap(one => variantsOf(one, state.offVariant));
  return new Set(state.prerequisites.length ? [...served, state.offVariant] : served).size === 1;
}

/** What is known of a flag's use. */
export interface FlagAge {
  /** Days since the last change. */
  days: number;
  /** Variants that were reported in the last 30 days; null where nothing was. */
  used: number | null;
  /** YYYY-MM-DD, UTC. */
  today: string;
}

/** Why a flag is stale; permanent ones never are. Source: platform 4. */
export function stalenessOf(state: FlagState, { days, used, today }: FlagAge): FlagStaleness[] {
  if (state.permanent || state.archived) return [];
  return [
    ...(state.expiresOn !== null && state.expiresOn < today ? [FlagStaleness.EXPIRED] : []),
    ...(days >= ONE_RESULT_DAYS && (servesOne(state) || used === 1) ? [FlagStaleness.ONE_RESULT] : []),
  ];
}
