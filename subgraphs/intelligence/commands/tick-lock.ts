import type { ServiceHost } from '../../../runtime/request/context.js';
import { exclusively } from '../../../runtime/time/exclusive.js';

/** Runs a tick while no other one runs, in any process; null when one does. Source: intelligence 7.3.2. */
export const withTickLock = <T>(host: ServiceHost, tick: () => Promise<T>): Promise<T | null> =>
  exclusively(host, 'intelligence:loop.tick', tick);
