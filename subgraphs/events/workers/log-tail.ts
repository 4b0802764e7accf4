import type { Worker } from '../../../runtime/service.js';
import { tailOf } from '../queries/log-tail.js';

/** Lets those who wait for the log go when the process ends. */
export const tailWorker: Worker = {
  role: 'subgraphs',
  start: async host => ({ stop: async () => tailOf(host).stop() }),
};
