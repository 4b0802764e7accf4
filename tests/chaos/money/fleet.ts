import { join } from 'node:path';
import { freePort } from '../../support/platform.js';
import { startProcess } from '../../support/processes.js';
import { Apart, beside, ownProcess, type Env, type Parts } from '../support/apart.js';
import { Member } from '../support/fleet.js';
import type { Patch } from '../wrong-designs.js';

const SANDBOX = join(import.meta.dirname, '../../../dist/subgraphs/payments/ports/sandbox/main.js');

/** Processes that are killed. */
export const VICTIMS = ['payments', 'accounting', 'relay'] as const;
export type Victim = (typeof VICTIMS)[number];
export type Fleet = Apart<Victim>;

async function begin(env: Env, patches: readonly Patch[]): Promise<Parts<Victim>> {
  const others = [
    startProcess({ ...env, SERVICES: 'identity,platform,events', ROLES: 'subgraphs,gateway,rest' }),
    startProcess(env, SANDBOX),
  ];
  const members = {
    payments: ownProcess(env, 'payments', patches),
    accounting: ownProcess(env, 'accounting', []),
    relay: new Member({ env: beside(env, { ROLES: 'relay', PORT: String(await freePort()) }), patches: [] }),
  };
  return { members, others };
}

/** Payments, accounting and the relay each in a process that can be killed; the rest in one, and the sandbox in another, that cannot. */
export const startMoney = async (patches: readonly Patch[] = []): Promise<Fleet> =>
  Apart.start(['payments', 'accounting'], { PAYMENTS_SANDBOX_URL: `http://127.0.0.1:${await freePort()}` }, env => begin(env, patches));
