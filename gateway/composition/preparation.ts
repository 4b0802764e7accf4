import { answersRequests } from '../../runtime/config.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Parts } from './parts.js';

/** Pause between two services, ms, in which requests are served: one takes 30 to 60 ms on quick cores. */
const PAUSE_MS = 20;

/** Makes what a service makes at its first use, one after the other, in a process that answers. One that is asked earlier does it at that moment. */
export function prepareServices(hosts: readonly RunningService[], { config, stops }: Parts): void {
  if (config.restPlans !== 'idle' || !answersRequests(config.roles)) return;
  const left = [...hosts];
  const next = (): NodeJS.Timeout =>
    setTimeout(() => {
      const host = left.shift();
      if (host?.orm && host.schema) timer = next();
    }, PAUSE_MS).unref();
  let timer = next();
  stops.add(() => clearTimeout(timer));
}
