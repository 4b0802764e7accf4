import type { Violation } from '../../../runtime/request/errors.js';
import { GuardrailKind, GuardrailPhase } from '../entities/enums.js';
import type { GuardrailRule } from '../entities/policy.js';
import type { GuardrailViolation } from '../entities/decision.js';
import type { Candidate, Values } from './values.js';

/** A candidate with what limits it. */
export interface GuardedCandidate extends Candidate {
  contraindications: readonly string[];
  ageMin: number | null;
  ageMax: number | null;
  regions: readonly string[];
}

/** What is known of the entity's safety. */
export interface GuardFacts {
  /** False: it could not be read, so only what is safe anyway may be served. */
  available: boolean;
  redFlagOpen: boolean;
  criticalLabOpen: boolean;
  contraindications: readonly string[];
  activeInterventions: readonly string[];
}

export interface GuardContext {
  facts: GuardFacts;
  context: Values;
  safeTag: string;
  denylist: readonly string[];
  /** Candidate to how often it was served in the days of the cap. */
  servedOften: ReadonlySet<string>;
}

const AGE_BAND = /^(\d{1,3})_(\d{1,3}|plus)$/;

/** Ages that a context allows: `age` or `age_band` (`40_49`, `80_plus`); null where it has neither. */
export function agesOf(context: Values): { low: number; high: number } | null {
  if (typeof context.age === 'number') return { low: context.age, high: context.age };
  const match = AGE_BAND.exec(String(context.age_band ?? ''));
  if (!match) return null;
  return { low: Number(match[1]), high: match[2] === 'plus' ? Number.POSITIVE_INFINITY : Number(match[2]) };
}

/** An age that is not known to lie within the limits is outside. */
function outsideAge({ ageMin, ageMax }: GuardedCandidate, context: Values): boolean {
  if (ageMin === null && ageMax === null) return false;
  const ages = agesOf(context);
  return ages === null || ages.low < (ageMin ?? 0) || ages.high > (ageMax ?? Number.POSITIVE_INFINITY);
}

type Check = (candidate: GuardedCandidate, given: GuardContext) => boolean;

const isSafe: Check = (candidate, { safeTag }) => candidate.tags.includes(safeTag);

/** When each rule blocks a candidate. Source: intelligence 4.3. */
const BLOCKS = {
  [GuardrailKind.RED_FLAG_OPEN]: (candidate, given) => given.facts.redFlagOpen && !isSafe(candidate, given),
  [GuardrailKind.CRITICAL_LAB_OPEN]: (candidate, given) => given.facts.criticalLabOpen && !isSafe(candidate, given),
  [GuardrailKind.CONTRAINDICATED]: (candidate, { facts }) =>
    candidate.contraindications.some(code => facts.contraindications.includes(code)),
  [GuardrailKind.AGE_RESTRICTED]: (candidate, { context }) => outsideAge(candidate, context),
  [GuardrailKind.REGION_RESTRICTED]: (candidate, { context }) =>
    candidate.regions.length > 0 && !candidate.regions.includes(String(context.region ?? '')),
  [GuardrailKind.ALREADY_ACTIVE]: (candidate, { facts }) => facts.activeInterventions.includes(candidate.id),
  [GuardrailKind.UNSAFE_CONTENT]: (candidate, { denylist }) => denylist.includes(candidate.id) || candidate.tags.includes('unsafe'),
  [GuardrailKind.FREQUENCY_CAP]: (candidate, { servedOften }) => servedOften.has(candidate.id),
  [GuardrailKind.GUARD_UNAVAILABLE]: (candidate, given) => !given.facts.available && !isSafe(candidate, given),
} as const satisfies Record<GuardrailKind, Check>;

/** Rules that need to know of the entity: where one of them is asked for, data that cannot be read blocks all but what is safe. */
const NEED_FACTS: readonly GuardrailKind[] = [
  GuardrailKind.RED_FLAG_OPEN,
  GuardrailKind.CRITICAL_LAB_OPEN,
  GuardrailKind.CONTRAINDICATED,
  GuardrailKind.ALREADY_ACTIVE,
];

export const needsFacts = (rules: readonly GuardrailRule[]): boolean => rules.some(({ rule }) => NEED_FACTS.includes(rule));

/** Whether the entity's contraindication codes decide anything: a rule asks for them, and a candidate names some. */
export const needsCodes = (rules: readonly GuardrailRule[], candidates: readonly GuardedCandidate[]): boolean =>
  rules.some(({ rule }) => rule === GuardrailKind.CONTRAINDICATED) &&
  candidates.some(({ contraindications }) => contraindications.length > 0);

/** Parameters of the rules that have some, with their greatest value; all are whole numbers from 1. */
const PARAMS: Partial<Record<GuardrailKind, Readonly<Record<string, number>>>> = {
  [GuardrailKind.FREQUENCY_CAP]: { max: 1000, days: 400 },
};

function paramViolations(rule: GuardrailKind, params: Readonly<Record<string, unknown>>, pointer: string): Violation[] {
  const known = PARAMS[rule] ?? {};
  const unknown = Object.keys(params).filter(key => !Object.hasOwn(known, key));
  const isWrong = ([key, most]: [string, number]): boolean => {
    const value = params[key];
    return value !== undefined && !(Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most);
  };
  const wrong = Object.entries(known).filter(isWrong);
  return [
    ...unknown.map(key => ({ pointer: `${pointer}/${key}`, message: 'is not known' })),
    ...wrong.map(([key, most]) => ({ pointer: `${pointer}/${key}`, message: `must be a whole number from 1 to ${most}` })),
  ];
}

/** What is wrong with the rules of a policy; that guard data is needed follows from them and is no rule of its own. */
export function guardrailViolations(
  rules: readonly { rule: GuardrailKind; params?: Readonly<Record<string, unknown>> | null }[],
  pointer: string,
): Violation[] {
  return rules.flatMap(({ rule, params }, index) => [
    ...(rule === GuardrailKind.GUARD_UNAVAILABLE ? [{ pointer: `${pointer}/${index}/rule`, message: 'is no rule of a policy' }] : []),
    ...(rules.findIndex(one => one.rule === rule) < index ? [{ pointer: `${pointer}/${index}/rule`, message: 'is there already' }] : []),
    ...paramViolations(rule, params ?? {}, `${pointer}/${index}/params`),
  ]);
}

/** Everything that speaks against candidates, by rule. */
export function violationsOf(
  rules: readonly GuardrailRule[],
  candidates: readonly GuardedCandidate[],
  given: GuardContext,
  phase: GuardrailPhase,
): GuardrailViolation[] {
  const asked = [...rules.map(({ rule }) => rule), ...(needsFacts(rules) ? [GuardrailKind.GUARD_UNAVAILABLE] : [])];
  return candidates.flatMap(candidate =>
    asked.filter(rule => BLOCKS[rule](candidate, given)).map(rule => ({ candidateId: candidate.id, rule, phase })),
  );
}
