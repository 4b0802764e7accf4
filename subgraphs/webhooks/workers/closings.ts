import type { Worker } from '../../../runtime/service.js';
import { closeNext, closingSignalOf } from '../commands/closings.js';
import { Loop } from './loop.js';

const FAILED = 'open deliveries could not be closed; it is tried again';

/**
 * Closes what is left of subscriptions that ended, batch after batch, each in a transaction of its own; in processes with the role
 * `consumers`. Source: section 3.
 */
export const closingWorker: Worker = {
  role: 'consumers',
  start: async host => new Loop(host, closingSignalOf(host), FAILED, () => host.transaction(closeNext)).start(),
};
