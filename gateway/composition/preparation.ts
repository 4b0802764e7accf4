import { answersRequests } from '../../runtime/config.js';
import { loggedError } from '../../runtime/observe/log.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Parts } from './parts.js';

/** Pause between two services, ms, in which requests are served: one takes 30 to 60 ms on quick cores. */
const PAUSE_MS = 20;

/** A failure is only logged: what asks the service fails by the same error. */
function prepare(host: RunningService): void {
  try {
    void [host.orm, host.schema]; // made when they are read
  } catch (error) {
    host.log.error({ err: loggedError(error) }, 'a service cannot be prepared');
  }
}

/** Makes what a service makes at its first use, one after the other, in a process that answers. One that is asked earlier does it at that moment. */
export function prepareServices(hosts: readonly RunningService[], { config, stops }: Parts): void {
  if (config.restPlans !== 'idle' || !answersRequests(config.roles)) return;
  const left = hosts.values();
  const next = (): NodeJS.Timeout => setTimeout(() => step(), PAUSE_MS).unref();
  const step = (): void => {
    const { value: host, done } = left.next();
    if (done) return;
    prepare(host);
    timer = next();
  };
  let timer = next();
  stops.add(() => clearTimeout(timer));
}
