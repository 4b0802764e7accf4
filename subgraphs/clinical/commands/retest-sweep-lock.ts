import type { ServiceHost } from '../../../runtime/request/context.js';
import { exclusively } from '../../../runtime/time/exclusive.js';

/** Runs a sweep while no other one runs, in any process; null when one does. */
export const withSweepLock = <T>(host: ServiceHost, sweep: () => Promise<T>): Promise<T | null> =>
  exclusively(host, 'clinical:retest.sweep', sweep);
