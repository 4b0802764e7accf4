import { violations } from './books.js';
import { Belongings, perform } from './operations.js';
import { stepsOf, type Step } from './steps.js';
import { World } from './world.js';

/** Users, by their currency; JPY has no minor unit, KWD three digits of it. */
const CURRENCIES = ['USD', 'USD', 'USD', 'EUR', 'EUR', 'JPY', 'KWD', 'USD'];
/** Steps between two barriers, at which nothing is on its way. */
const BETWEEN = 200;

export interface RunOptions {
  seed: number;
  steps: number;
  /** At once; 1: the same run every time. */
  clients: number;
}

/** What a run did and found. */
export interface Outcome {
  done: number;
  refused: number;
  skipped: number;
  violations: string[];
}

/** Random operations from several clients; at every barrier all laws of money are checked, and the clocks go on by three days. */
export async function runMoney({ seed, steps, clients }: RunOptions): Promise<Outcome> {
  const world = await World.open(CURRENCIES);
  const belongings = new Map(world.people.map(person => [person.id, new Belongings()]));
  const all = stepsOf(seed, steps, world.people.length);
  const outcome: Outcome = { done: 0, refused: 0, skipped: 0, violations: [] };
  for (let at = 0; at < all.length && outcome.violations.length === 0; at += BETWEEN) {
    await inParallel(all.slice(at, at + BETWEEN), clients, async step => {
      const person = world.people[step.user]!;
      const status = await perform({ world, person, own: belongings.get(person.id)!, step });
      outcome[status === null ? 'skipped' : status < 300 ? 'done' : 'refused']++;
    });
    await world.drained();
    outcome.violations = await violations(world, belongings);
    await world.advance('P3D');
    await world.drained();
    outcome.violations.push(...(await violations(world, belongings)));
    console.log(
      `money, seed ${seed}: ${Math.min(at + BETWEEN, steps)} of ${steps} steps, ${outcome.done} done, ${outcome.refused} refused`,
    );
  }
  return outcome;
}

async function inParallel(steps: readonly Step[], clients: number, work: (step: Step) => Promise<void>): Promise<void> {
  const left = [...steps];
  const client = async (): Promise<void> => {
    for (let step = left.shift(); step; step = left.shift()) await work(step);
  };
  await Promise.all(Array.from({ length: clients }, client));
}
