import type { EventMetrics } from '../../events/metrics.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Backends } from './backends.js';
import { startConsumers } from './consumers.js';
import type { Parts } from './parts.js';
import { startRelayRole } from './relay.js';

/** Starts the workers of a service that the process's roles call for. */
async function startWorkers({ config, stops }: Parts, host: RunningService): Promise<void> {
  const workers = (host.declaration.workers ?? []).filter(worker => config.roles.has(worker.role));
  for (const running of await Promise.all(workers.map(worker => worker.start(host)))) stops.add(() => running.stop());
}

interface WorkSetting {
  hosts: readonly RunningService[];
  backends: Backends;
  metrics: EventMetrics;
  /** Writes the catalogue of event types, which the relay needs. */
  syncRegistry(): Promise<void>;
}

/** Waits for all of them, so that none starts after the failure of another. @throws what the first of them threw. */
async function everyOne(starts: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected');
  if (failed) await Promise.reject((failed as PromiseRejectedResult).reason);
}

/** Those of all services at once: most of it is waiting for the database, and whoever joins meanwhile shares a round of leases. */
const startAllConsumers = ({ stops }: Parts, { hosts, backends, metrics }: WorkSetting): Promise<void> =>
  everyOne(
    hosts
      .flatMap(host => startConsumers(host, backends.pool, metrics))
      .map(async starting => {
        const consumer = await starting;
        stops.add(() => consumer.stop());
      }),
  );

/** Starts what runs beside requests: consumers, relay, workers, jobs. */
export async function startWork(parts: Parts, setting: WorkSetting): Promise<void> {
  const { config } = parts;
  const { hosts, backends, metrics, syncRegistry } = setting;
  if (config.roles.has('consumers')) await startAllConsumers(parts, setting);
  if (config.roles.has('relay')) {
    await syncRegistry();
    await startRelayRole(parts, backends, metrics);
  }
  await everyOne(hosts.map(host => startWorkers(parts, host)));
  const withQueues = hosts.filter(host => host.declaration.queues?.length);
  if (withQueues.length === 0) return;
  const { startJobs } = await import('./jobs.js'); // pg-boss takes 5 MB
  await startJobs(parts, withQueues, backends.databaseUrl);
}
