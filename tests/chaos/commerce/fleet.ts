import { WITH_DOUBLES } from '../../commerce/shop.js';
import { freePort } from '../../support/platform.js';
import { startProcess } from '../../support/processes.js';
import { Apart, ownProcess, type Env, type Parts } from '../support/apart.js';
import { Member } from '../support/fleet.js';
import type { Patch } from '../wrong-designs.js';

/** Processes that are killed. */
export const VICTIMS = ['commerce', 'payments'] as const;
export type Victim = (typeof VICTIMS)[number];
export type Fleet = Apart<Victim>;

async function begin(env: Env, patches: readonly Patch[]): Promise<Parts<Victim>> {
  const others = [startProcess({ ...env, SERVICES: 'identity,platform,events', ROLES: 'subgraphs,gateway,rest,relay' })];
  const members = {
    commerce: ownProcess(env, 'commerce', patches),
    payments: new Member({ env, patches: [], main: 'subgraphs/commerce/ports/payments-double-main.js' }),
  };
  return { members, others };
}

/** Commerce and the double of payments each in a process that can be killed, the rest in one that cannot. */
export async function startShop(patches: readonly Patch[] = []): Promise<Fleet> {
  const own = { ...WITH_DOUBLES, COMMERCE_PAYMENTS_URL: `http://127.0.0.1:${await freePort()}`, DATABASE_POOL_MAX: '6' };
  return Apart.start(['commerce'], own, env => begin(env, patches));
}
