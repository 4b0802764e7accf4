import type { RunningService } from '../../runtime/running-service.js';
import type { Parts } from './parts.js';

/** Between the first looks of two services' timers, ms: each opens the service's ORM and a connection, beside the first requests. */
const APART_MS = 25;

/** Starts the timers and housekeeping of the services (role `scheduler`). */
export async function startTimersOf(hosts: readonly RunningService[], { config, stops }: Parts): Promise<void> {
  if (!config.roles.has('scheduler') || hosts.length === 0) return;
  const { startTimers } = await import('../../runtime/time/timers.js');
  hosts.forEach((host, at) => {
    const timers = startTimers(host, at * APART_MS);
    stops.add(() => timers.stop());
  });
}
