import { setTimeout as sleep } from 'node:timers/promises';
import { Shop } from '../../commerce/shop.js';
import { random } from '../support/random.js';
import type { Patch } from '../wrong-designs.js';
import { startShop, VICTIMS, type Fleet, type Victim } from './fleet.js';
import { runShoppers, type Meanwhile, type Outcome, type RunOptions } from './run.js';

/** From the moment when all processes are there to the next kill, ms. */
const [SOONEST_MS, LATEST_MS] = [200, 3_000];

export interface KillOptions extends RunOptions {
  /** In all; each phase between two barriers has its share. */
  kills: number;
}

export interface KillOutcome extends Outcome {
  killed: Record<Victim, number>;
}

/** Ends processes while a phase lasts, two of three times commerce: it holds more that can be lost. */
function killer(fleet: Fleet, { seed, kills, each, between }: KillOptions, killed: Record<Victim, number>): Meanwhile {
  const next = random(seed);
  const share = kills / Math.ceil(each / between);
  let due = 0;
  return async phase => {
    let isOver = false;
    const end = () => void (isOver = true);
    phase.then(end, end);
    for (due += share; due >= 1 && !isOver; due--) {
      await sleep(SOONEST_MS + next() * (LATEST_MS - SOONEST_MS));
      const victim = next() < 2 / 3 ? VICTIMS[0] : VICTIMS[1];
      fleet.members[victim].kill();
      killed[victim]++;
      await fleet.ready();
    }
  };
}

/** Shoppers in a shop whose processes die. @param patches of commerce. */
export async function killShop(options: KillOptions, patches: readonly Patch[] = []): Promise<KillOutcome> {
  const fleet = await startShop(patches);
  const killed = { commerce: 0, payments: 0 };
  try {
    const outcome = await runShoppers(await Shop.around(fleet.p), options, killer(fleet, options, killed));
    return { ...outcome, killed };
  } catch (error) {
    throw new Error(`${(error as Error).stack}\n${fleet.told()}`, { cause: error });
  } finally {
    await fleet.stop();
  }
}
