import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Worker } from '../../../runtime/service.js';
import { registerDefinitions } from '../commands/definition.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';
import { Executor } from './executor.js';

const register = (host: ServiceHost): Promise<void> => host.transaction(registerDefinitions);

/** What a process that only answers must know. */
const registration: Worker = {
  role: 'subgraphs',
  start: async host => {
    await register(host);
    return { stop: async () => undefined };
  },
};

/** Executes runs, beside the timers that wake them. */
const executor: Worker = {
  role: 'scheduler',
  start: async host => {
    await register(host);
    return new Executor(host, host.databaseUrl, DEFINITIONS).start();
  },
};

export const workers: readonly Worker[] = [registration, executor];
