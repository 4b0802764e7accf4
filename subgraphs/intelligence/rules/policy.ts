import type { Violation } from '../../../runtime/request/errors.js';
import { guardrailViolations } from './guardrails.js';
import { schemaViolations } from './schemas.js';

const LABEL = /^[a-z][a-z0-9_]{0,63}$/;

/** What a caller gives of a policy. */
interface Settings {
  rewardMap?: Record<string, unknown> | null;
  contextSchema?: Record<string, unknown> | null;
  candidateSchema?: Record<string, unknown> | null;
  segmentKeys?: readonly string[] | null;
  guardrails?: Parameters<typeof guardrailViolations>[0] | null;
}

function rewardViolations(rewards: Record<string, unknown> | null | undefined): Violation[] {
  if (rewards && Object.keys(rewards).length === 0) return [{ pointer: '/input/rewardMap', message: 'must have at least one label' }];
  const wrong = Object.entries(rewards ?? {}).filter(
    ([label, reward]) => !LABEL.test(label) || typeof reward !== 'number' || !(reward >= 0 && reward <= 1),
  );
  return wrong.map(([label]) => ({ pointer: `/input/rewardMap/${label}`, message: 'must be a label with a reward in [0,1]' }));
}

/** What is in force where nothing else is given. */
interface InForce {
  contextSchema: Record<string, unknown>;
  segmentKeys: readonly string[];
}

/** Everything that does not go together, with what stays as it is. */
export function policyViolations(
  { rewardMap, contextSchema, candidateSchema, segmentKeys, guardrails }: Settings,
  known: InForce,
): Violation[] {
  const properties = ((contextSchema ?? known.contextSchema).properties ?? {}) as object;
  const keys = segmentKeys ?? known.segmentKeys;
  const unknown = keys.map((key, index) => [key, index] as const).filter(([key]) => !Object.hasOwn(properties, key));
  return [
    ...rewardViolations(rewardMap),
    ...(contextSchema ? schemaViolations(contextSchema, '/input/contextSchema') : []),
    ...(candidateSchema ? schemaViolations(candidateSchema, '/input/candidateSchema') : []),
    ...unknown.map(([key, index]) => ({ pointer: `/input/segmentKeys/${index}`, message: `${key} is no key of the context` })),
    ...guardrailViolations(guardrails ?? [], '/input/guardrails'),
  ];
}
