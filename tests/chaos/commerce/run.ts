import type { Reached, Shop } from '../../commerce/shop.js';
import { differences } from './comparison.js';
import { KEEPING } from './keeping.js';
import { brokenLaws } from './laws.js';
import { SHOPPING } from './shopping.js';
import { stepsOf, type Kind, type Step } from './steps.js';
import { World } from './world.js';

export const OPERATIONS = { ...SHOPPING, ...KEEPING };
const MINUTE_MS = 60_000;
/** How far the clock goes on at a barrier, in turn: holds go on, end, payments come too late, lots come to have too little time. */
const PAUSES_MS = [10, 16, 31, 3 * 24 * 60].map(minutes => minutes * MINUTE_MS);

export interface RunOptions {
  seed: number;
  shoppers: number;
  /** Steps of each shopper. */
  each: number;
  /** Shoppers at once; 1: the same operations one after the other, every time alike. */
  clients: number;
  /** Steps of each between two barriers, at which nothing is on its way. */
  between: number;
}

/** What a run did and found. */
export interface Outcome {
  done: number;
  /** Of each kind. */
  readonly kinds: Partial<Record<Kind, number>>;
  refused: number;
  skipped: number;
  violations: string[];
}

/** What happens to the shop while it is shopped in. */
export type Meanwhile = (phase: Promise<unknown>) => Promise<void>;

async function inParallel<T>(all: readonly T[], clients: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const client = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function perform(world: World, steps: readonly Step[], outcome: Outcome): Promise<void> {
  for (const step of steps) {
    const status = await OPERATIONS[step.kind](world, step);
    outcome[status === null ? 'skipped' : status < 300 ? 'done' : 'refused']++;
    if (status !== null && status < 300) outcome.kinds[step.kind] = (outcome.kinds[step.kind] ?? 0) + 1;
  }
}

/** Nothing is on its way: what is broken then. The clock goes on, and it is looked again. */
async function barrier(world: World, pause: number): Promise<string[]> {
  await world.drained();
  const before = [...(await brokenLaws(world)), ...(await differences(world))];
  if (before.length > 0) return before;
  await world.advance(pause);
  await world.drained();
  const unheard = await world.tellAll();
  await world.drained();
  return [...unheard, ...(await brokenLaws(world)), ...(await differences(world))].map(
    text => `${pause / MINUTE_MS} minutes later: ${text}`,
  );
}

/** Shoppers at random in one shop; at every barrier it must be what a pure model and the laws of stock and money say. */
export async function runShoppers(shop: Shop<Reached>, options: RunOptions, meanwhile?: Meanwhile): Promise<Outcome> {
  const { seed, shoppers, each, clients, between } = options;
  const world = await World.open(shop, shoppers, meanwhile !== undefined);
  const all = stepsOf(seed, shoppers, each);
  const outcome: Outcome = { done: 0, kinds: {}, refused: 0, skipped: 0, violations: [] };
  for (let at = 0, n = 0; at < each && outcome.violations.length === 0; at += between, n++) {
    const phase = inParallel(all, clients, steps => perform(world, steps.slice(at, at + between), outcome));
    await Promise.all([phase, meanwhile?.(phase)]);
    outcome.violations = await barrier(world, PAUSES_MS[n % PAUSES_MS.length]!);
    console.log(
      `shoppers, seed ${seed}: ${Math.min(at + between, each)} of ${each} steps of ${shoppers}, ${outcome.done} done, ${outcome.refused} refused`,
    );
  }
  return outcome;
}
