import type { Worker } from '../../../runtime/service.js';
import { hearChanges } from '../commands/forgetting.js';

/** In every process that answers. */
export const hints: Worker = {
  role: 'subgraphs',
  start: async host => {
    const hearing = hearChanges(host);
    return { stop: async () => hearing.stop() };
  },
};
