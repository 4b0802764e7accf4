import { join } from 'node:path';
import { freePort } from '../../support/platform.js';
import { startProcess } from '../../support/processes.js';
import { ServiceFleet } from '../support/service-fleet.js';
import type { Patch } from '../wrong-designs.js';

const SANDBOX = join(import.meta.dirname, '../../../dist/subgraphs/payments/ports/sandbox/main.js');

/** Processes that are killed. */
export const VICTIMS = ['payments', 'accounting', 'relay'] as const;
export type Victim = (typeof VICTIMS)[number];
export type Fleet = ServiceFleet<'payments' | 'accounting'>;

/** Payments, accounting and the relay each in a process that can be killed; the rest in one, and the sandbox in another, that cannot. */
export const startFleet = (patches: readonly Patch[] = []): Promise<Fleet> =>
  ServiceFleet.start({
    own: ['payments', 'accounting'],
    patches,
    env: async () => ({ PAYMENTS_SANDBOX_URL: `http://127.0.0.1:${await freePort()}` }),
    beside: env => [startProcess(env, SANDBOX)],
  });
