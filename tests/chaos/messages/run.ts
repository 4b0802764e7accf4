import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.js';
import type { Patch } from '../wrong-designs.js';
import { startComms, type Fleet } from './fleet.js';
import { violations } from './laws.js';
import { Providers, type Vices } from './providers.js';
import { World } from './world.js';

const VICTIMS = ['comms', 'relay', 'providers'] as const;
export type Victim = (typeof VICTIMS)[number];

export interface Options {
  seed: number;
  messages: number;
  kills: number;
  vices: Vices;
  /** A claim of a worker that is gone is free again after so long, s. */
  leaseSeconds: number;
}

export interface Outcome {
  killed: Record<Victim, number>;
  /** Events that waited for an operator, because their handling ended in two kills. */
  suspects: number;
  copies: number;
  violations: string[];
}

/** Callers at once. */
const CALLERS = 8;
const DOWN_MS = 300;
/** Longest time until all is over when all has been asked for, ms. */
const DRAIN_MS = 3_000_000;

/** Kills in turn, when so many copies more were taken: whoever sent the last one is not answered. */
class Killer {
  readonly killed: Record<Victim, number> = { comms: 0, relay: 0, providers: 0 };
  #last: Promise<void> = Promise.resolve();
  #done = 0;

  constructor(
    private readonly fleet: Fleet,
    private readonly providers: Providers,
    private readonly kills: number,
    private readonly every: number,
  ) {
    providers.onTaken = () => {
      if (this.#done < this.kills && providers.copies.length >= (this.#done + 1) * this.every)
        this.#kill(VICTIMS[this.#done++ % VICTIMS.length]!);
    };
  }

  #kill(victim: Victim): void {
    this.killed[victim]++;
    console.log(`messages: kill ${this.#done} of ${this.kills}, ${victim}, after ${this.providers.copies.length} copies`);
    if (victim === 'providers') this.#last = this.#last.then(() => this.providers.kill(DOWN_MS));
    else this.fleet.members[victim].kill();
  }

  /** All that was killed is there again. */
  async over(): Promise<void> {
    await this.#last;
    await this.fleet.ready();
  }
}

/** Asks for everything, a few at once. */
async function askAll(world: World): Promise<void> {
  let next = 1;
  const caller = async (): Promise<void> => {
    while (next <= world.people.length) await world.ask(next++);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** Until every request that was made has its messages, and all of these are over. @returns how many events waited for an operator. */
async function drain(world: World): Promise<number> {
  let suspects = 0;
  const wanted = world.people.reduce((sum, _, place) => sum + world.wantedBy(place + 1).length, 0);
  const left = async (): Promise<number> => {
    suspects += await world.replaySuspects();
    const [row] = await world.p.sql<{ n: number }>('select count(*)::int as n from comms.message');
    return wanted - row!.n + (await world.goOn());
  };
  await until('all messages to be over', left, n => n <= 0, DRAIN_MS);
  return suspects;
}

/** Messages in processes and by providers that can be killed, and what is wrong with them at the end. */
export async function killMessages(options: Options, patches: readonly Patch[] = []): Promise<Outcome> {
  const { seed, messages, kills, vices, leaseSeconds } = options;
  const providers = await new Providers(seed, vices).start();
  const env = { ...providers.env, COMMS_LEASE_SECONDS: String(leaseSeconds) };
  const fleet: Fleet = await startComms(env, patches);
  let world: World | undefined;
  try {
    world = await World.around(fleet.p, messages);
    const killer = new Killer(fleet, providers, kills, Math.floor((messages * 0.6) / (kills + 1)));
    await askAll(world);
    const suspects = await drain(world);
    await killer.over();
    await sleep(DOWN_MS); // what a second copy would need
    return { killed: killer.killed, suspects, copies: providers.copies.length, violations: await violations(world, providers.copies) };
  } catch (error) {
    throw new Error(`${(error as Error).stack}\n${fleet.told()}`, { cause: error });
  } finally {
    await world?.close();
    await fleet.stop();
    await providers.stop();
  }
}
