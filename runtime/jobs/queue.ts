import { z } from 'zod';
import type { Slug } from '../../events/slugs.js';
import type { Context, ServiceHost } from '../request/context.js';

export type QueuePolicy = 'standard' | 'singleton' | 'exclusive' | 'key_fifo';
export type MisfirePolicy = 'skip' | 'once' | 'all';
export type OverlapPolicy = 'allow' | 'skip' | 'queue';

/** Progress that a handler reports; it never decreases. Source: jobs 2. */
export interface Progress {
  /** 0..100. */
  percent: number;
  step?: string;
  /** At most 200 characters. */
  message?: string;
}

/** What a handler is given. It runs at least once, so it must be idempotent; `once` records an effect. Source: jobs 7.2. */
export interface JobRun<Payload> {
  readonly id: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly payload: Payload;
  readonly userId: string | null;
  readonly host: ServiceHost;
  /** Aborted when the job is cancelled, has run out of time, or the process stops. */
  readonly signal: AbortSignal;
  /** Does `work` in a transaction of the service, once for this job and key, whatever the number of attempts. */
  once(key: string, work: (ctx: Context) => Promise<void>): Promise<void>;
  /** Reports how far it is; at most one write a second, the last one wins. */
  progress(progress: Progress): Promise<void>;
  /** Adds a line to the job's log: at most 1,000 lines, redacted. */
  log(level: 'info' | 'warn' | 'error', message: string): Promise<void>;
}

/** A queue of a service: its rules as defaults that operators may override, its payload's schema, and who works it. */
export interface JobQueueDefinition<Schema extends z.ZodObject = z.ZodObject> {
  /** `<schema of the service>.<what>`. */
  name: string;
  title: string;
  payload: Schema;
  policy?: QueuePolicy;
  /** Tries after the first, 0..20. */
  retryLimit?: number;
  retryDelaySeconds?: number;
  /** Doubles the delay each time, up to an hour, with full jitter. */
  retryBackoff?: boolean;
  timeoutSeconds?: number;
  heartbeatSeconds?: number;
  /** Jobs of the queue that one process runs at once. */
  concurrency?: number;
  /** Jobs of one group key that run at once, over all processes. */
  perKeyConcurrency?: number;
  retentionDays?: number;
  /** Ends the attempt: a value is the output (ids, codes and counts only), an error another try. @throws Permanent for no other try. */
  run(job: JobRun<z.infer<Schema>>): Promise<Readonly<Record<string, unknown>> | void>;
}

/** A schedule that stands in code; exactly one of `cron` and `every`. */
export interface JobScheduleDefinition {
  key: string;
  queue: string;
  cron?: string;
  /** ISO 8601 duration. */
  every?: string;
  timeZone?: string;
  payload: Readonly<Record<string, unknown>>;
  misfire?: MisfirePolicy;
  graceSeconds?: number;
  overlap?: OverlapPolicy;
}

/** A failure that no other attempt would mend. */
export class Permanent extends Error {
  override name = 'Permanent';

  constructor(
    readonly code: string,
    message: string = code,
  ) {
    super(message);
  }
}

/** Values of a definition that operators may override. */
export interface QueueSettings {
  retryLimit: number;
  retryDelaySeconds: number;
  retryBackoff: boolean;
  timeoutSeconds: number;
  heartbeatSeconds: number;
  concurrency: number;
  perKeyConcurrency: number | null;
  retentionDays: number;
}

/** Defaults of the contract. Source: jobs 2. */
export const settingsOf = (queue: JobQueueDefinition): QueueSettings => ({
  retryLimit: queue.retryLimit ?? 5,
  retryDelaySeconds: queue.retryDelaySeconds ?? 30,
  retryBackoff: queue.retryBackoff ?? true,
  timeoutSeconds: queue.timeoutSeconds ?? 900,
  heartbeatSeconds: queue.heartbeatSeconds ?? 60,
  concurrency: queue.concurrency ?? 2,
  // the engine of itself looks at the first job only, so a key that runs would keep the others back
  perKeyConcurrency: queue.perKeyConcurrency ?? (queue.policy === 'singleton' ? 1 : null),
  retentionDays: queue.retentionDays ?? 7,
});

const NAME = /^[a-z_]+\.[a-z0-9_.]+$/;

/** Declares a queue. @throws Error for a name that is not the service's. */
export function jobQueue<Schema extends z.ZodObject>(service: Slug, queue: JobQueueDefinition<Schema>): JobQueueDefinition {
  if (!NAME.test(queue.name) || queue.name.split('.')[0] !== service.replaceAll('-', '_'))
    throw new Error(`${queue.name} is not a queue of ${service}`);
  return queue as unknown as JobQueueDefinition;
}
