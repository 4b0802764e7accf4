import { z } from 'zod';
import { openPool } from '../../runtime/data/pool.js';
import { JobDatabase } from '../../runtime/jobs/database.js';
import { PgBossEngine } from '../../runtime/jobs/pg-boss.js';
import { jobQueue, Permanent, type JobQueueDefinition, type JobRun } from '../../runtime/jobs/queue.js';
import { registerQueues } from '../../runtime/jobs/register.js';
import { JobWorker } from '../../runtime/jobs/worker.js';
import { atEnd } from '../support/at-end.js';
import type { TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** What a test's handler was given, in order. */
export interface Seen {
  id: string;
  attempt: number;
  n: number | undefined;
}

type Payload = { n?: number; mode?: string };
export type Handler = (job: JobRun<Payload>) => Promise<Record<string, unknown> | void>;

/** A queue whose handler the test decides; without backoff, so that retries come at once. */
export const testQueue = (name: string, run: Handler, rest: Partial<JobQueueDefinition> = {}): JobQueueDefinition =>
  jobQueue('jobs', {
    title: `Test ${name}`,
    retryLimit: 2,
    retryDelaySeconds: 0,
    retryBackoff: false,
    ...rest,
    name: `jobs.${name}`,
    payload: z.object({ n: z.int().min(0).optional(), mode: z.string().max(20).optional(), user_id: z.uuid().optional() }),
    run: run as never,
  } as never);

export interface Worked {
  engine: PgBossEngine;
  database: JobDatabase;
  worker: JobWorker;
  stop(): Promise<void>;
}

/** A worker of a process of its own, as far as the tables can tell; `work: false` only makes the queues known. */
export async function attach(p: TestPlatform, queues: readonly JobQueueDefinition[], work = true): Promise<Worked> {
  const pool = openPool('jobs', p.env.DATABASE_URL!, 4);
  const database = new JobDatabase(pool);
  const engine = new PgBossEngine(database.sql);
  await database.transaction(sql => registerQueues(sql, engine, 'jobs', queues));
  const worker = new JobWorker(p.host('jobs'), engine, database, queues);
  if (work) worker.start();
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    if (work) await worker.stop();
    await pool.end();
  };
  atEnd(stop);
  return { engine, database, worker, stop };
}

/** A handler that does what its payload asks for: `throw`, `permanent`, `unstorable`, or counts. */
export const obedient =
  (seen: Seen[]): Handler =>
  async ({ id, attempt, payload }) => {
    seen.push({ id, attempt, n: payload.n });
    if (payload.mode === 'throw') throw new Error('password=hunter2 of jane@example.test');
    if (payload.mode === 'permanent') throw new Permanent('no_such_order');
    if (payload.mode === 'unstorable') return { text: '\u0000' };
    if (payload.mode === 'twice' && attempt < 3) throw new Error('not yet');
    return { attempts: attempt };
  };

export async function enqueued(p: TestPlatform, queue: string, body: object = {}): Promise<string> {
  const answer = await p.rest('POST', '/jobs/v1/jobs', {
    token: await p.serviceToken(),
    body: { queue: `jobs.${queue}`, payload: {}, ...body },
  });
  if (answer.status !== 202 && answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
}

export const jobOf = async (p: TestPlatform, id: string): Promise<any> =>
  (await p.rest('GET', `/jobs/v1/jobs/${id}`, { token: await p.serviceToken() })).body;

export const reaches = (p: TestPlatform, id: string, ...statuses: string[]): Promise<any> =>
  until(
    `job ${id} to be ${statuses.join(' or ')}`,
    () => jobOf(p, id),
    job => statuses.includes(job.status),
  );

export const act = async (p: TestPlatform, id: string, action: string, body: object = {}) =>
  p.rest('POST', `/jobs/v1/jobs/${id}/${action}`, { token: await p.serviceToken(), body });
