/**
 * A process of the platform for the benchmark of jobs, driven by messages of its parent: enqueues on a queue that does nothing, and counts what
 * its worker has run and how long after the enqueueing. Roles and addresses are its environment's, as everywhere.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { z } from 'zod';
import { startPlatform } from '../../dist/gateway/composition/platform.js';
import { loadConfig } from '../../dist/runtime/config.js';
import { enqueue } from '../../dist/runtime/jobs/enqueue.js';
import { jobQueue } from '../../dist/runtime/jobs/queue.js';
import { engineOf } from '../../dist/subgraphs/jobs/ports/engine.js';
import { SERVICES } from '../../dist/subgraphs/services.js';
import { answer } from './answering.mjs';

const BATCH = 1000;
let seen;
const reset = () => (seen = { done: 0, ages: [], at: 0 });

const bench = jobQueue('jobs', {
  name: 'jobs.bench',
  title: 'Nothing',
  concurrency: 50,
  payload: z.object({ at: z.int() }),
  async run({ payload }) {
    seen.done++;
    seen.at = Date.now();
    seen.ages.push(seen.at - payload.at);
  },
});

const jobs = async () => {
  const declaration = await SERVICES.jobs();
  return { ...declaration, queues: [...declaration.queues, bench] };
};

/** One job in each transaction; `perSecond` paces them, else as fast as they commit. */
async function single(host, { count, concurrency, perSecond }) {
  const started = performance.now();
  let begun = 0;
  const one = async () => {
    for (let at = begun++; at < count; at = begun++) {
      if (perSecond) await sleep(Math.max(0, started + (at / perSecond) * 1000 - performance.now()));
      await host.transaction(ctx => enqueue(ctx, bench, { at: Date.now() }));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return { ms: performance.now() - started };
}

/** As POST /v1/jobs/batch stores them; `run_at`: for later. */
async function batch(host, { count, run_at = null }) {
  const started = performance.now();
  for (let left = count; left > 0; left -= BATCH) {
    const rows = Array.from({ length: Math.min(left, BATCH) }, () => ({
      id: v7(),
      queue: bench.name,
      payload: { at: Date.now() },
      requested_by: 'system:bench',
      run_at,
    }));
    await host.transaction(ctx => engineOf(host).enqueue(ctx.sql, rows, ctx.now()));
  }
  return { ms: performance.now() - started };
}

reset();
const platform = await startPlatform({ config: loadConfig(process.env), services: { ...SERVICES, jobs } });
const host = platform.hosts.get('jobs');
answer(platform, {
  single: order => single(host, order),
  batch: order => batch(host, order),
  reset,
  seen: () => seen,
});
