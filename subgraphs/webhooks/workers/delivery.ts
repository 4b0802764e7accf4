import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Worker } from '../../../runtime/service.js';
import { HttpDeliverer } from '../ports/deliverer.js';
import { settingsOf } from '../ports/settings.js';
import { DeliveryWorker } from './worker.js';

const workers = new WeakMap<ServiceHost, readonly DeliveryWorker[]>();

/** The delivery workers of a service in this process; none where the process has another role. */
const workersOf = (host: ServiceHost): readonly DeliveryWorker[] => workers.get(host) ?? [];

/** Whether a worker of this process has held a shard within 30 s, if it has workers. Source: section 4, readyz. */
export const ready = async (host: ServiceHost): Promise<{ shards: boolean }> => ({
  shards: workersOf(host).length === 0 || workersOf(host).some(worker => worker.ready),
});

/** Whether requests of this process are in the air. */
export const areBusy = (host: ServiceHost): boolean => workersOf(host).some(worker => worker.busy);

/** Runs the delivery workers in processes with the role `consumers`; they share the shards with each other as with those of other processes. */
export const deliveryWorker: Worker = {
  role: 'consumers',
  async start(host) {
    const settings = settingsOf(host);
    const { egress } = settings;
    const all = Array.from({ length: settings.workers }, () => new DeliveryWorker(host, settings, new HttpDeliverer({ egress })));
    workers.set(host, all);
    await Promise.all(all.map(worker => worker.start()));
    return { stop: async () => void (await Promise.all(all.map(worker => worker.stop()))) };
  },
};
