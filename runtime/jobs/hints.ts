import type { Context, ServiceHost } from '../request/context.js';

/** Hints of one queue are gathered for so long, ms: the first goes at once, all others of that time as one. A worker that looks finds everything. */
const GATHER_MS = 20;

const gathering = new WeakMap<ServiceHost, Map<string, { again: boolean }>>();

function begin(host: ServiceHost, queues: Map<string, { again: boolean }>, queue: string): void {
  const state = { again: false };
  queues.set(queue, state);
  host.transport.hint('jobs', queue, null);
  setTimeout(() => {
    queues.delete(queue);
    if (state.again) begin(host, queues, queue);
  }, GATHER_MS).unref();
}

function hint(host: ServiceHost, queue: string): void {
  const queues = gathering.get(host) ?? new Map<string, { again: boolean }>();
  gathering.set(host, queues);
  const state = queues.get(queue);
  if (state) state.again = true;
  else begin(host, queues, queue);
}

/** Tells the workers of these queues after the commit that there is something; they look once a second anyway. */
export function wakeWorkers(ctx: Context, queues: Iterable<string>): void {
  for (const queue of new Set(queues)) ctx.afterCommit(() => hint(ctx.host, queue));
}

/** Tells the worker of a running job after the commit that the job is cancelled; its next heartbeat would find it, too. */
export function cancelAtWorker(ctx: Context, queue: string, id: string): void {
  ctx.afterCommit(() => ctx.host.transport.hint('jobs', queue, { cancel: id }));
}
