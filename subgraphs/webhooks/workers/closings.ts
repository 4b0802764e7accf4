import type { Worker } from '../../../runtime/service.js';
import { closeNext, closingSignalOf } from '../commands/closings.js';
import { changeNext } from '../commands/lane-changes.js';
import { Loop } from './loop.js';

const FAILED = 'open deliveries could not be closed, or lanes changed; it is tried again';

/**
 * Closes what is left of subscriptions that ended, and holds or lets go the lanes of those that were paused or go on, batch after batch, each in a
 * transaction of its own; in processes with the role `consumers`. Source: section 3.
 */
export const closingWorker: Worker = {
  role: 'consumers',
  start: async host =>
    new Loop(host, closingSignalOf(host), FAILED, async () =>
      [await host.transaction(closeNext), await host.transaction(changeNext)].includes(true),
    ).start(),
};
