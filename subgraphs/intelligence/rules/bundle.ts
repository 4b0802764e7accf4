import { createHash } from 'node:crypto';
import { Ranker } from '../entities/enums.js';

export interface Counts {
  /** Sum of rewards. */
  s: number;
  /** How often served and joined. */
  c: number;
}

export interface BetaParameters {
  alpha: number;
  beta: number;
}

export interface RulesPart {
  rules: readonly { when: unknown; add: number }[];
  /** Candidates that are never shown. */
  denylist: readonly string[];
}

export interface PopularityPart {
  prior_strength: number;
  global: Readonly<Record<string, Counts>>;
  segments: Readonly<Record<string, Readonly<Record<string, Counts>>>>;
}

export interface PlattScaling {
  a: number;
  b: number;
}

export interface LogisticPart {
  features: readonly string[];
  weights: readonly number[];
  intercept: number;
  calibration?: PlattScaling;
}

export interface ThompsonPart {
  segments: Readonly<Record<string, Readonly<Record<string, BetaParameters>>>>;
  default: BetaParameters;
}

export interface LinUcbArm {
  a_inv: readonly (readonly number[])[];
  theta: readonly number[];
}

export interface LinUcbPart {
  alpha: number;
  features: readonly string[];
  arms: Readonly<Record<string, LinUcbArm>>;
}

/** Frozen parameters of a registry version: one part per ranker, any subset. Source: intelligence 2. */
export interface Bundle {
  rules?: RulesPart;
  popularity?: PopularityPart;
  logistic?: LogisticPart;
  thompson?: ThompsonPart;
  linucb?: LinUcbPart;
  /** Of the logistic model, where that has none of its own. */
  calibration?: PlattScaling;
}

/** The rankers of S0 to S5, in this order. */
export const RANKERS: readonly Ranker[] = [
  Ranker.PASSTHROUGH,
  Ranker.RULES,
  Ranker.POPULARITY,
  Ranker.LOGISTIC,
  Ranker.THOMPSON,
  Ranker.LINUCB,
];
/** Those that predict a reward. */
export const MODELS: readonly Exclude<Ranker, Ranker.PASSTHROUGH | Ranker.RULES>[] = [
  Ranker.POPULARITY,
  Ranker.LOGISTIC,
  Ranker.THOMPSON,
  Ranker.LINUCB,
];

/** Which rankers a bundle has parts for; PASSTHROUGH always. */
export const rankersOf = (bundle: Bundle): Ranker[] =>
  RANKERS.filter(ranker => ranker === Ranker.PASSTHROUGH || bundle[ranker as keyof Bundle] !== undefined);

/** JSON with sorted keys, so that equal parameters have equal bytes. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const held = value as Record<string, unknown>;
  let text = '';
  for (const key of Object.keys(held).sort())
    if (held[key] !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(held[key])}`;
  return `{${text}}`;
}

/** SHA-256 of the canonical JSON, hexadecimal. */
export const artifactHash = (bundle: unknown): string => createHash('sha256').update(canonicalJson(bundle)).digest('hex');
