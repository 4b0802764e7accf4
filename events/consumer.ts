import type { DataOf, EventDefinition } from './define.js';
import type { Condition, EntranceRead } from './entrance.js';
import type { Envelope } from './envelope.js';
import type { EventLog } from './log.js';
import type { Sql } from './outbox.js';
import type { Slug } from './slugs.js';
import type { Partitions } from './transport/port.js';

export { Permanent } from './failure.js';
export type { Envelope } from './envelope.js';

/** Reacts to one event inside a transaction; no outside I/O. `signal` aborts at the handler's deadline. */
export type Handler<Ctx> = ((ctx: Ctx, event: Envelope<any>, signal: AbortSignal) => Promise<void>) & {
  readonly definition?: EventDefinition;
  /** False: nothing is to be done about the event. */
  readonly concerns?: (event: Envelope<any>) => boolean;
};

/** A service's reaction to some event types: its own queue, its own position in the log, its own dead letters. */
export interface Consumer<Ctx> {
  /** `<service>.<what>`, for example `webhooks.delivery`. */
  name: `${Slug}.${string}`;
  /** Handlers by event name, or a list made with `handle`. */
  on: Readonly<Record<string, Handler<Ctx>>> | readonly Handler<Ctx>[];
  /** Asks other services before the transaction; what it answers is the transaction's `facts`. Must be quick: the key waits. */
  prepare?: (ctx: Ctx, event: Envelope<any>) => Promise<unknown>;
  /**
   * Read by the statement that takes an event up, after its key is locked, for the handler, which gets it by `readOf`: a round trip less.
   * Parameters are numbered from `first`. Null: nothing. Where this throws, the handler has failed; the statement itself must not fail by what
   * is in an event: that would count as no failure of it.
   */
  read?: (event: Envelope<any>, first: number) => EntranceRead | null;
  /**
   * Where the handler, as far as this process knows, has nothing to do with an event: the condition, in SQL, under which that is so. The event
   * is then noted together with others, in one message, commit included, and the handler not called; where it does not hold, the event takes
   * the usual way. Asked before the transaction with what `prepare` answered, and not about events that a handler does not concern. Failures:
   * see `read`.
   */
  passOver?: (ctx: Ctx, event: Envelope<any>, facts: unknown) => Condition | null;
  /** How many processes can share the work; default 4. */
  partitions?: Partitions;
  /** Raised by one whenever `partitions` changes; default 1. */
  generation?: number;
  /** Keys handled at once per partition; default 16. */
  concurrency?: number;
  /** Waits between retries of a dead letter, s; default 30, 120, 600, 3600. */
  retrySeconds?: readonly number[];
  /** Deadline of a handler, ms; default 20,000. */
  handlerTimeoutMs?: number;
  /** Whether a replay may run its handlers again; default `dedupe`: handled events are dropped. */
  onReplay?: 'dedupe' | 'rerun';
  /** RFC 3339: where the consumer is new, it gets what has occurred since from the log first; default: it begins with what comes. */
  startAt?: string;
}

/** Binds a handler to its event type, so that it gets the typed payload. @param concerns decides by the event alone; default: all of them. */
export function handle<E extends EventDefinition, Ctx>(
  definition: E,
  run: (ctx: Ctx, event: Envelope<DataOf<E>>, signal: AbortSignal) => Promise<void>,
  concerns?: (event: Envelope<DataOf<E>>) => boolean,
): Handler<Ctx> {
  return Object.assign((ctx: Ctx, event: Envelope<any>, signal: AbortSignal) => run(ctx, event, signal), {
    definition,
    ...(concerns && { concerns }),
  });
}

/** Why a handler's transaction runs; what it emits carries this on. */
export interface TransactionMeta {
  requestId: string | null;
  /** Id of the event that is handled; null: several are noted, and nothing is emitted. */
  causationId: string | null;
  traceparent: string | null;
  brandId: string | null;
  /** Name of the consumer. */
  consumer: string;
  /** What the consumer's `prepare` answered. */
  facts?: unknown;
}

/** A transaction of the service, as the machinery uses it. */
export interface HandlerTransaction<Ctx> {
  sql: Sql;
  context: Ctx;
  /** Its time by the service's clock: nothing is asked on a second connection while it holds this one. */
  now: Date;
}

/** What the machinery needs of the service whose consumer it runs. */
export interface ConsumerHost<Ctx> {
  slug: Slug;
  /** PostgreSQL schema with the service's `inbox`. */
  schema: string;
  /** One transaction of the service at READ COMMITTED: commits what `run` did and emitted when it returns, rolls back when it throws. */
  transaction<T>(meta: TransactionMeta, run: (tx: HandlerTransaction<Ctx>) => Promise<T>): Promise<T>;
  /** The service's context outside any transaction, for `prepare` and `passOver`. */
  outside<T>(run: (context: Ctx) => Promise<T>): Promise<T>;
  log: EventLog;
  /** The service's injected clock; it decides retry times. */
  now(): Date | Promise<Date>;
}
