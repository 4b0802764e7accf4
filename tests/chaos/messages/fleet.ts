import { freePort } from '../../support/platform.js';
import { startProcess } from '../../support/processes.js';
import { Apart, beside, ownProcess, type Env, type Parts } from '../support/apart.js';
import { Member } from '../support/fleet.js';
import type { Patch } from '../wrong-designs.js';

export type Fleet = Apart<'comms' | 'relay'>;

async function begin(env: Env, patches: readonly Patch[]): Promise<Parts<'comms' | 'relay'>> {
  const members = {
    comms: ownProcess(env, 'comms', patches),
    relay: new Member({ env: beside(env, { ROLES: 'relay', PORT: String(await freePort()) }), patches: [] }),
  };
  return { members, others: [startProcess({ ...env, SERVICES: 'identity,platform,events', ROLES: 'subgraphs,gateway,rest' })] };
}

/** Comms and the relay each in a process that can be killed, the rest in one that cannot. @param own further variables of all. */
export const startComms = (own: Env, patches: readonly Patch[] = []): Promise<Fleet> =>
  Apart.start(['comms'], own, env => begin(env, patches));
