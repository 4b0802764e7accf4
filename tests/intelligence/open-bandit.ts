import { pointMass } from '../../subgraphs/intelligence/rules/exploration.js';
import type { LoggedRow } from '../../subgraphs/intelligence/rules/off-policy.js';
import { drawIndex, uniformsOf, type Uniform } from '../../subgraphs/intelligence/rules/sampling.js';
import { winProbabilities } from '../../subgraphs/intelligence/rules/thompson.js';

/**
 * A logger of the shape of the Open Bandit Dataset (Saito et al., NeurIPS 2021, campaign men): 34 items in 3 positions, served uniformly, a click
 * in some 0.5 % of impressions, and a Beta-Bernoulli Thompson sampler to evaluate. The data itself reaches a reader only, no machine that
 * builds this; here the truth is known as well, so that an estimate can be compared with what it estimates and not with another estimate.
 */
export const ITEMS = 34;
const POSITIONS = 3;
const SEGMENTS = 4;

/** An impression as the dataset's rows hold it: item_id, position, click, propensity_score, and the user's segment. */
export interface Impression {
  segment: number;
  item: number;
  position: number;
  click: 0 | 1;
  propensity: number;
}

const positionFactor = [1.15, 1, 0.85];

/** Click probability of an item in a position for a segment: some items are five times others, and segments differ in which. */
export const clickRate = (segment: number, item: number, position: number): number => {
  const appeal = 1 + 0.9 * Math.sin(item * 2.4) + 0.6 * Math.sin(item * 1.3 + segment * 1.9);
  return 0.0045 * Math.max(0.15, appeal) * positionFactor[position]!;
};

/** Impressions of the uniform policy. */
export function uniformLog(next: Uniform, n: number): Impression[] {
  return Array.from({ length: n }, () => {
    const [segment, item, position] = [Math.floor(next() * SEGMENTS), Math.floor(next() * ITEMS), Math.floor(next() * POSITIONS)];
    return { segment, item, position, click: next() < clickRate(segment, item, position) ? 1 : 0, propensity: 1 / ITEMS };
  });
}

/** What a Thompson sampler serves that has learned per item from a log, by quadrature, with a floor as everything here that explores. */
export function thompsonPolicy(log: readonly Impression[], epsilon = 0.05): number[] {
  const posteriors = Array.from({ length: ITEMS }, () => ({ alpha: 1, beta: 250 }));
  for (const { item, click } of log) posteriors[item]![click ? 'alpha' : 'beta'] += 1;
  return winProbabilities(posteriors).map(probability => (1 - epsilon) * probability + epsilon / ITEMS);
}

/** Value of a policy over items, exactly: segments and positions are uniform. */
export function valueOf(policy: readonly number[]): number {
  let sum = 0;
  for (let segment = 0; segment < SEGMENTS; segment++)
    for (let position = 0; position < POSITIONS; position++)
      policy.forEach((probability, item) => (sum += probability * clickRate(segment, item, position)));
  return sum / (SEGMENTS * POSITIONS);
}

export const uniformPolicy: readonly number[] = pointMass(ITEMS, -1).map(() => 1 / ITEMS);

/** Rows for the estimators, with a reward model of click rates by item, learned from the other half of the log. */
export function rowsOf(log: readonly Impression[], policy: readonly number[]): LoggedRow[] {
  const models = [0, 1].map(fold => ratesOf(log.filter((_, index) => index % 2 !== fold)));
  const expected = models.map(rates => policy.reduce((sum, probability, item) => sum + probability * rates[item]!, 0));
  return log.map(({ item, click, propensity }, index) => ({
    reward: click,
    propensity,
    target: policy[item]!,
    q: models[index % 2]![item]!,
    expected: expected[index % 2]!,
  }));
}

function ratesOf(log: readonly Impression[]): number[] {
  const rates = Array.from({ length: ITEMS }, () => ({ s: 1, c: 200 }));
  for (const { item, click } of log) {
    rates[item]!.s += click;
    rates[item]!.c += 1;
  }
  return rates.map(({ s, c }) => s / c);
}

/** Mean reward of really serving a policy: what an online test would measure. */
export function onlineMean(policy: readonly number[], seed: number, n: number): number {
  const next = uniformsOf(seed);
  let clicks = 0;
  for (let index = 0; index < n; index++) {
    const [segment, position] = [Math.floor(next() * SEGMENTS), Math.floor(next() * POSITIONS)];
    clicks += Number(next() < clickRate(segment, drawIndex(policy, next()), position));
  }
  return clicks / n;
}
