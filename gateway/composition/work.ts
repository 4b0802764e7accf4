import type { EventMetrics } from '../../events/metrics.js';
import type { RunningService } from '../../runtime/running-service.js';
import { startTimers } from '../../runtime/time/timers.js';
import type { Backends } from './backends.js';
import { startConsumers } from './consumers.js';
import type { Parts } from './parts.js';
import { startRelayRole } from './relay.js';

/** Starts the timers, housekeeping and workers of a service that the process's roles call for. */
async function startWorkers({ config, stops }: Parts, host: RunningService): Promise<void> {
  const workers = (host.declaration.workers ?? []).filter(worker => config.roles.has(worker.role));
  for (const running of await Promise.all(workers.map(worker => worker.start(host)))) stops.add(() => running.stop());
  if (!config.roles.has('scheduler')) return;
  const timers = startTimers(host);
  stops.add(() => timers.stop());
}

interface WorkSetting {
  hosts: readonly RunningService[];
  backends: Backends;
  metrics: EventMetrics;
  /** Writes the catalogue of event types, which the relay needs. */
  syncRegistry(): Promise<void>;
}

/** Starts what runs beside requests: consumers, relay, workers, timers, jobs. */
export async function startWork(parts: Parts, { hosts, backends, metrics, syncRegistry }: WorkSetting): Promise<void> {
  const { config, stops } = parts;
  if (config.roles.has('consumers'))
    for (const host of hosts) for (const consumer of await startConsumers(host, backends.pool, metrics)) stops.add(() => consumer.stop());
  if (config.roles.has('relay')) {
    await syncRegistry();
    await startRelayRole(parts, backends, metrics);
  }
  for (const host of hosts) await startWorkers(parts, host);
  const withQueues = hosts.filter(host => host.declaration.queues?.length);
  if (withQueues.length === 0) return;
  const { startJobs } = await import('./jobs.js'); // pg-boss takes 5 MB
  await startJobs(parts, withQueues, backends.databaseUrl);
}
