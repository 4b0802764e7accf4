import type { Sql } from '../../events/outbox.js';
import type { QueuePolicy, QueueSettings } from './queue.js';

export type JobStatus = 'scheduled' | 'queued' | 'running' | 'retrying' | 'cancelling' | 'succeeded' | 'dead' | 'cancelled' | 'discarded';

/** A job to be enqueued, as `jobs.enqueue` reads it. */
export interface NewJob {
  id: string;
  queue: string;
  payload: object;
  priority?: number;
  run_at?: string | null;
  dedupe_key?: string | null;
  dedupe_seconds?: number;
  group_key?: string | null;
  user_id?: string | null;
  max_attempts?: number;
  requested_by: string;
  schedule_key?: string | null;
  occurrence_at?: string | null;
  parent_id?: string | null;
  held?: boolean;
}

export interface Enqueued {
  id: string;
  status: JobStatus;
  /** It was there already, by its dedupe key, its id, or an exclusive queue. */
  existing: boolean;
}

/** One attempt of a job in the hands of one worker; `claim` fences everything that the worker may still do to it. */
export interface Claim {
  id: string;
  queue: string;
  claim: number;
  attempt: number;
  payload: Record<string, unknown>;
  userId: string | null;
  timeoutSeconds: number;
  heartbeatSeconds: number;
}

/** An attempt that ended well. */
export interface Success {
  claim: Claim;
  output: object | null;
}

export interface Failure {
  code: string;
  message: string;
  /** No other attempt. */
  permanent: boolean;
}

/** What became of an attempt; null: the claim is no longer the worker's, and nothing was changed. */
export type Settlement = JobStatus | null;

/**
 * The engine behind the queues. Every method works on the SQL it is given, so that a job and the change that asks for it commit
 * together. Default: pg-boss on the suite's PostgreSQL. Source: jobs 8.
 */
export interface JobEngine {
  /** Makes a queue, or brings its settings up to date; the policy stays what it was. */
  define(sql: Sql, name: string, policy: QueuePolicy, settings: QueueSettings): Promise<void>;
  enqueue(sql: Sql, jobs: readonly NewJob[], now: Date): Promise<Enqueued[]>;
  /** Takes at most `limit` jobs that are due, best first. */
  claim(sql: Sql, queue: string, limit: number, perKey: number | null, worker: string): Promise<Claim[]>;
  /** Answers the ids of those whose claim was still the worker's. */
  succeed(sql: Sql, ended: readonly Success[]): Promise<Set<string>>;
  fail(sql: Sql, claim: Claim, failure: Failure): Promise<Settlement>;
  /** Gives an attempt back without counting it: the process stops. */
  release(sql: Sql, claim: Claim): Promise<Settlement>;
  /** Renews the heartbeats of a worker's attempts; answers the claims that are still its own. */
  beat(sql: Sql, claims: readonly Claim[]): Promise<Set<string>>;
  /** Fails what has lost its heartbeat or its time, and ends cancellations that nobody answers. */
  supervise(sql: Sql): Promise<number>;
  /** Takes waiting jobs out of the engine. */
  withdraw(sql: Sql, queue: string, ids: readonly string[]): Promise<void>;
  /** Puts dead or cancelled jobs back, attempts from 0, where they were in the order of their key. */
  redrive(sql: Sql, queue: string, ids: readonly string[]): Promise<void>;
  /** Forgets jobs; of one that runs, the keys. */
  forget(sql: Sql, ids: readonly string[]): Promise<void>;
}
