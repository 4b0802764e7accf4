import type { GraphQLSchema } from 'graphql';
import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent, type About, type PendingEvent, type Sql } from '../../events/outbox.js';
import { schemaOf, type Slug } from '../../events/slugs.js';
import type { Transport } from '../../events/transport/port.js';
import type { RateLimit } from '../access/rate-limit.js';
import type { Revocations } from '../access/revocations.js';
import type { Config } from '../config.js';
import type { AuditDetails, AuditRow } from '../data/audit.js';
import type { Sealer } from '../data/crypto.js';
import { actorOf, type Caller } from './caller.js';
import type { Clock, Timer } from '../time/clock.js';
import { sqlOf } from '../data/database.js';
import { fail } from './errors.js';
import type { Federation } from '../federation/federation.js';
import type { FlagClient } from '../flags/client.js';
import { Loaders, type BatchLoad } from '../data/loaders.js';
import type { Logger } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { RequestInfo } from './request.js';
import { activeTraceparent } from '../observe/tracing.js';

/** A fault that a test asked for. */
export interface Fault {
  /** Id of what it concerns; null: whatever passes. */
  match: string | null;
  /** Passes that it makes fail. */
  times: number;
}

/** The running service as its own code sees it: what the process gave to it, and transactions of its own. */
export interface ServiceHost {
  readonly slug: Slug;
  readonly config: Config;
  /** Of this service, for engines that bring connections of their own. */
  readonly databaseUrl: string;
  readonly orm: MikroORM;
  /** Of its subgraph. */
  readonly schema: GraphQLSchema;
  readonly flags: FlagClient;
  readonly federation: Federation;
  readonly revocations: Revocations;
  readonly sealer: Sealer;
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly timers: readonly Timer<Context>[];
  /** By type; the answer has the order of the references, null where nothing may be seen. */
  readonly references: Readonly<Record<string, (ctx: Context, references: readonly any[]) => Promise<readonly (object | null)[]>>>;
  /** Fault injection of the test controls, by point. */
  readonly faults: Map<string, Fault>;
  /** The request's context in this service; one per request, so that batches and the identity map are shared. */
  context(request: RequestInfo): Promise<Context>;
  /** Runs work of the service itself (a timer, a worker) in a transaction of its own. @throws Error inside a transaction of the service. */
  transaction<T>(work: (ctx: Context) => Promise<T>, request?: RequestInfo): Promise<T>;
  /** Reads of the service itself, outside a transaction. @throws Error inside a transaction of the service. */
  read<T>(work: (ctx: Context) => Promise<T>): Promise<T>;
  /** Throws where a test has asked for a fault; does nothing otherwise. Source: conventions 8, test-faults. */
  fault(point: string, match: string): void;
}

/**
 * The only thing that is passed around inside a service: one per request and service. Inside a mutation, a consumer or a timer
 * its entity manager is in a transaction, and what is emitted and audited commits with it.
 */
export class Context {
  clock: Clock;
  /** What `@Prepare` found out before the transaction began. */
  facts: unknown = undefined;
  /** Event that caused this work, in a consumer. */
  causationId: string | null = null;
  inTransaction = false;
  #savepoints = 0;
  #openSavepoints = 0;
  readonly events: PendingEvent[] = [];
  readonly audits: AuditRow[] = [];
  readonly hooks: (() => void | Promise<void>)[] = [];
  readonly lastSteps: (() => void | Promise<void>)[] = [];
  readonly lastWrites: { text: string; params: readonly unknown[] }[] = [];
  readonly loaders = new Loaders();
  /** Rows that the running transaction has locked, as the ORM holds them. */
  locked = new WeakSet<object>();
  /** Access rules already decided in this request. */
  readonly decided = new Map<object, true | Error>();

  constructor(
    readonly host: ServiceHost,
    readonly em: SqlEntityManager,
    readonly request: RequestInfo,
    clock: Clock,
  ) {
    this.clock = clock;
  }

  get slug(): Slug {
    return this.host.slug;
  }
  get schema(): string {
    return schemaOf(this.host.slug);
  }
  get caller(): Caller {
    return this.request.caller;
  }
  get flags(): FlagClient {
    return this.host.flags;
  }
  get log(): Logger {
    return this.host.log;
  }

  /** Counts a call against a limit. @throws Problem rate_limited. */
  count(limit: (host: object) => RateLimit, key: string): void {
    this.request.leavesTrace = true;
    limit(this.host).take(key);
  }

  /** The service's time. */
  now(): Date {
    return this.clock.now();
  }

  /** `$1`-style SQL in the running transaction, or on the pool outside one. Timestamps come back as text. */
  get sql(): Sql {
    return sqlOf(this.em);
  }

  /** Asks other services. Never inside a transaction: a slow neighbour would hold our locks. */
  get federation(): Federation {
    return { run: <Data>(...asked: Parameters<Federation['run']>) => this.#ask<Data>(asked) };
  }

  async #ask<Data>(asked: Parameters<Federation['run']>): Promise<Data> {
    if (this.inTransaction) throw new Error('the federation is not asked inside a write transaction; use @Prepare');
    return this.host.federation.run<Data>(...asked);
  }

  /** Publishes a business fact with this transaction. @throws Error outside a transaction or when the payload breaks its schema. */
  emit<E extends EventDefinition>(event: E, data: DataOf<E>, about: About): void {
    if (!this.inTransaction) throw new Error(`${event.name} was emitted outside a transaction`);
    const { id: requestId } = this.request;
    this.events.push(
      prepareEvent(event, data, about, {
        source: this.slug,
        requestId,
        causationId: this.causationId,
        actor: actorOf(this.caller),
        traceparent: activeTraceparent() ?? this.request.traceparent,
      }),
    );
  }

  /** Adds an audit row to this transaction: `entity.verb`, the id of the thing, details without health values, secrets or contact data. */
  audit(action: string, target: string | null, details: AuditDetails = {}): void {
    if (!this.inTransaction) throw new Error(`${action} was audited outside a transaction`);
    this.audits.push({ action, target, details });
  }

  /**
   * Runs when the rest of the transaction is done, before what it audited and emitted is written and it commits, in the order of the calls:
   * for a lock that many wait for. @throws Error outside a transaction.
   */
  beforeCommit(step: () => void | Promise<void>): void {
    if (!this.inTransaction) throw new Error('a last step was asked for outside a transaction');
    this.lastSteps.push(step);
  }

  /**
   * A statement of constant text whose answer nobody needs, sent when the rest of the transaction is done: before what it audited and
   * emitted, or else in one message with the commit. Inside a savepoint at once. @throws Error outside a transaction.
   */
  async writeLast(text: string, params: readonly unknown[]): Promise<void> {
    if (!this.inTransaction) throw new Error('a last write was asked for outside a transaction');
    if (this.#openSavepoints > 0) await this.sql(text, params);
    else this.lastWrites.push({ text, params });
  }

  /** Runs after the commit; for hints and signals, which may be lost. */
  afterCommit(hook: () => void | Promise<void>): void {
    this.hooks.push(hook);
  }

  /** Chooses among the operation's documented statuses, for example 200 for "was there already". */
  status(code: number): void {
    this.request.status = code;
  }

  /** Joins a per-request batch, so that a list costs one statement per level. */
  load<Key, Row>(name: string, key: Key, batch: BatchLoad<Key, Row>): Promise<Row | null> {
    return this.loaders.load(name, key, batch);
  }

  /**
   * The user an operation concerns: `sub` of a user token (a different `userId` finds nothing), the named one for services and staff.
   * @throws Problem invalid_request when a service or staff token names none; not_found for another user's id.
   */
  subject(userId: string | null | undefined, pointer = '/user_id'): string {
    if (this.caller.kind === 'user' && this.caller.permissions.length === 0) {
      if (userId != null && userId !== this.caller.userId) fail('not_found', 'Not found');
      return this.caller.userId!;
    }
    return userId ?? fail('invalid_request', 'The user is missing', { errors: [{ pointer, message: 'is required for a service token' }] });
  }

  /**
   * Work that may fail alone: rolled back to its savepoint, its events and audit rows discarded. After a failure every entity
   * must be loaded again.
   */
  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const lists = [this.events, this.audits, this.hooks, this.lastSteps];
    const marks = lists.map(list => list.length);
    const name = `s${this.#savepoints++}`;
    await this.em.flush();
    await this.sql(`savepoint ${name}`);
    this.#openSavepoints++;
    try {
      const result = await work();
      await this.em.flush();
      await this.sql(`release savepoint ${name}`);
      return result;
    } catch (error) {
      await this.sql(`rollback to savepoint ${name}`);
      this.em.clear();
      lists.forEach((list, index) => (list.length = marks[index]!));
      throw error;
    } finally {
      this.#openSavepoints--;
    }
  }
}
