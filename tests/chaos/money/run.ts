import { platform, type PlatformSetting } from '../../support/platform.js';
import { random, uuidOf } from '../support/random.js';
import { violations } from './books.js';
import { Referrals } from './commissions.js';
import { Belongings, perform } from './operations.js';
import { BARRIER_DAYS, BETWEEN, stepsOf, type Step } from './steps.js';
import { MONEY, START, World } from './world.js';

/** Users, by their currency; JPY has no minor unit, KWD three digits of it. */
const CURRENCIES = ['USD', 'USD', 'USD', 'EUR', 'EUR', 'JPY', 'KWD', 'USD'];

export interface RunOptions {
  seed: number;
  steps: number;
  /** At once; with 1 each step is over before the next, so the run is the same every time. */
  clients: number;
}

/** What a run did and found. */
export interface Outcome {
  done: number;
  refused: number;
  skipped: number;
  violations: string[];
  /** Kind and status of each step, in the order of their ends. */
  transcript: string[];
  /** Balances of the people's accounts in the end. */
  balances: object[];
}

const BALANCES = `select code, posted_debits, posted_credits from accounting.ledger_account where code ~ any($1::text[]) order by code`;

/** A run's platform, people and what they have. */
class Scene {
  readonly outcome: Outcome = { done: 0, refused: 0, skipped: 0, violations: [], transcript: [], balances: [] };
  readonly #belongings: ReadonlyMap<string, Belongings>;

  private constructor(
    private readonly world: World,
    private readonly referrals: Referrals,
    private readonly isSerial: boolean,
  ) {
    this.#belongings = new Map(world.people.map(person => [person.id, new Belongings()]));
  }

  static async open({ seed, clients }: RunOptions, setting: PlatformSetting): Promise<Scene> {
    const p = await platform({ services: [...MONEY, 'events'], transport: 'run', ...setting });
    const next = random(seed);
    for (const slug of MONEY) await p.clock(slug, { now: START });
    const world = await World.around(p, CURRENCIES, MONEY, next);
    return new Scene(world, await Referrals.open(world, p, uuidOf(next)), clients === 1);
  }

  get people(): number {
    return this.world.people.length;
  }

  async perform(step: Step): Promise<void> {
    const person = this.world.people[step.user]!;
    const status = await perform({ world: this.world, person, own: this.#belongings.get(person.id)!, step });
    this.outcome[status === null ? 'skipped' : status < 300 ? 'done' : 'refused']++;
    this.outcome.transcript.push(`${step.number} ${step.kind} ${status}`);
    if (this.isSerial) this.outcome.violations.push(...(await this.world.drained()));
  }

  async #check(): Promise<void> {
    const left = await this.world.drained();
    this.outcome.violations.push(...left, ...(await violations(this.world, this.#belongings, await this.referrals.findings())));
  }

  /** Nothing is on its way, the laws are checked; and again when the clocks have gone on and what is owed is paid out. */
  async barrier(): Promise<void> {
    await this.#check();
    await this.world.advance(`P${BARRIER_DAYS}D`);
    await this.referrals.payOut();
    await this.#check();
  }

  async end(): Promise<Outcome> {
    this.outcome.balances = await this.world.p.sql(BALANCES, [this.world.people.map(({ id }) => id)]);
    return this.outcome;
  }
}

/** Random operations from several clients; at every barrier all laws of money are checked, and the clocks go on by three days. */
export async function runMoney(options: RunOptions, setting: PlatformSetting = {}): Promise<Outcome> {
  const { seed, steps, clients } = options;
  const scene = await Scene.open(options, setting);
  const { outcome } = scene;
  const all = stepsOf(seed, steps, scene.people);
  for (let at = 0; at < all.length && outcome.violations.length === 0; at += BETWEEN) {
    await inParallel(all.slice(at, at + BETWEEN), clients, step => scene.perform(step));
    await scene.barrier();
    const { done, refused } = outcome;
    console.log(`money, seed ${seed}: ${Math.min(at + BETWEEN, steps)} of ${steps} steps, ${done} done, ${refused} refused`);
  }
  return scene.end();
}

async function inParallel(steps: readonly Step[], clients: number, work: (step: Step) => Promise<void>): Promise<void> {
  const left = [...steps];
  const client = async (): Promise<void> => {
    for (let step = left.shift(); step; step = left.shift()) await work(step);
  };
  await Promise.all(Array.from({ length: clients }, client));
}
