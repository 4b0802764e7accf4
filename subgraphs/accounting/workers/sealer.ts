import { repeat } from '../../../events/repeat.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Worker } from '../../../runtime/service.js';
import { seal } from '../commands/sealing.js';

/** A row is sealed within a second; most of the time there is nothing to do. */
const EVERY_MS = 400;

const sealAll = (host: ServiceHost): Promise<void> =>
  seal(host).catch(error => host.log.error({ err: loggedError(error) }, 'sealing failed; it is tried again'));

/** Seals the ledger beside the postings. */
export const sealer: Worker = {
  role: 'scheduler',
  start: async host => {
    const stop = repeat(() => sealAll(host), EVERY_MS);
    return { stop };
  },
};
