import type { Worker } from '../../../runtime/service.js';
import { keepEmbedded } from '../ports/sandbox/embedded.js';

/** The sandbox runs in every process that may call it, whatever its roles, unless it is a process of its own. Source: payments 8. */
export const sandboxWorkers: readonly Worker[] = (['subgraphs', 'consumers', 'scheduler'] as const).map(role => ({
  role,
  start: keepEmbedded,
}));
