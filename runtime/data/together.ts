import { AsyncLocalStorage } from 'node:async_hooks';
import { Context, type ServiceHost } from '../request/context.js';
import { Problem } from '../request/errors.js';
import type { RequestInfo } from '../request/request.js';
import { writeCallersAudit } from './audit.js';
import { once } from './idempotency.js';

/** Done by one transaction at most; two events each stay far below the 2,000 that one may emit. Source: live 8. */
const MAX_TOGETHER = 50;

/** One caller's call. */
export interface Call<Input> {
  readonly ctx: Context;
  readonly input: Input;
  /** Response path: with the key of the request what its answer is kept under. */
  readonly path: string;
}

/** The calls that one transaction does, in the order of their arrival. */
export interface Batch<Input, Row> {
  /** How many of those who wait, at least one; else all. */
  readonly size?: number;
  /** Does one, as its caller. @throws Problem, having changed nothing unless it is alone. */
  one(own: Context, call: Call<Input>): Promise<Row>;
  /** After the last of them: what is written once for all. */
  end?(): Promise<void>;
}

/** A mutation whose calls for one thing wait for the same lock. */
export interface Shared<Input, Locked, Row> {
  /** Its name in the schema. */
  readonly field: string;
  /** Name of the entity that it answers. */
  readonly type: string;
  /** What the calls of a transaction have in common. */
  keyOf(input: Input): string;
  /** Why each may not call at all, or null; asked before the transaction, so that nobody waits behind what is asked of others. */
  refusals?(ctx: Context, calls: readonly Call<Input>[]): Promise<readonly (Problem | null)[]>;
  /** Locks what is the same for all of them; also how to wait for the end of a transaction that has not answered. @throws Problem */
  lock(ctx: Context, input: Input): Promise<Locked>;
  begin(ctx: Context, locked: Locked, calls: readonly Call<Input>[]): Promise<Batch<Input, Row>>;
}

interface Waiting<Input, Row> extends Call<Input> {
  resolve(row: Row): void;
  reject(error: unknown): void;
}

type Outcome<Row> = { row: Row; own: Context } | { error: unknown };

/** What a transaction would answer, known before its commit: the database says later whether it was committed. */
interface Tried<Row> {
  transaction?: string;
  outcomes?: readonly Outcome<Row>[];
}

/** Work of all callers is nobody's own: it inherits neither a caller's transaction nor its deadline. */
const atRoot = AsyncLocalStorage.snapshot();

const isUnavailable = (error: unknown): boolean => error instanceof Problem && error.code === 'unavailable';

/** The running transaction as one caller's: events, audit rows, last steps and hooks are kept apart, so that who is refused leaves none. */
function memberOf(ctx: Context, { ctx: { request, facts } }: Call<unknown>): Context {
  const own: RequestInfo = { ...request, status: null, contexts: new Map() };
  return Object.assign(new Context(ctx.host, ctx.em, own, ctx.clock), { facts, inTransaction: true });
}

/** What a caller's work leaves, taken over by the transaction. */
async function takeOver(ctx: Context, members: readonly Context[]): Promise<void> {
  if (members.some(({ lastSteps }) => lastSteps.length > 0)) await ctx.em.flush();
  for (const { lastSteps } of members) for (let step = lastSteps.shift(); step; step = lastSteps.shift()) await step();
  ctx.events.push(...members.flatMap(({ events }) => events));
  ctx.hooks.push(...members.flatMap(({ hooks }) => hooks));
  ctx.lastWrites.push(...members.flatMap(({ lastWrites }) => lastWrites));
  const rows = members.flatMap(({ audits, caller, request }) => audits.map(row => ({ ...row, caller, requestId: request.id })));
  await writeCallersAudit(ctx.sql, ctx.schema, rows, ctx.now());
}

/** The answer of the transaction, as if the caller's own request had done it. */
function answer<Row>({ ctx, resolve, reject }: Waiting<unknown, Row>, outcome: Outcome<Row>): void {
  if ('error' in outcome) return reject(outcome.error);
  const { status, isReplayed } = outcome.own.request;
  Object.assign(ctx.request, { status, isReplayed, leavesTrace: true });
  ctx.em.clear(); // what it had read before
  ctx.loaders.clear();
  resolve(outcome.row);
}

const TRANSACTION = 'select pg_current_xact_id()::text as id';
const STATUS = `select pg_xact_status($1::text::xid8) = 'committed' as "isCommitted"`;

/** Calls of one key, of all callers of this process: while one transaction runs, the next ones gather. */
class Queue<Input, Locked, Row extends object> {
  readonly waiting: Waiting<Input, Row>[] = [];

  constructor(
    private readonly host: ServiceHost,
    private readonly shared: Shared<Input, Locked, Row>,
  ) {}

  /** Ends when nobody waits any more, and is `over` in the same turn, so that nobody comes too late to be seen. */
  async run(over: () => void): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = await this.#admitted(this.waiting.slice(0, MAX_TOGETHER));
      if (batch.length > 0) this.waiting.splice(0, await this.#do(batch).catch(error => this.#apart(batch, error)));
    }
    over();
  }

  /** Those who may call; the others are refused, and wait no more. */
  async #admitted(first: readonly Waiting<Input, Row>[]): Promise<readonly Waiting<Input, Row>[]> {
    if (!this.shared.refusals) return first;
    const asked = this.host.read(ctx => this.shared.refusals!(ctx, first));
    const refusals: readonly unknown[] = await asked.catch(error => first.map(() => error));
    const admitted = first.filter((_one, at) => refusals[at] === null);
    first.forEach((one, at) => refusals[at] !== null && one.reject(refusals[at]));
    this.waiting.splice(0, first.length, ...admitted);
    return admitted;
  }

  /** @returns how many were answered. @throws Problem what the transaction did not do. */
  async #do(batch: readonly Waiting<Input, Row>[]): Promise<number> {
    const tried: Tried<Row> = {};
    const outcomes = await this.host.transaction(ctx => this.#noted(ctx, batch, tried)).catch(error => this.#done(batch, tried, error));
    outcomes.forEach((outcome, at) => answer(batch[at]!, outcome));
    return outcomes.length;
  }

  /** Does them, noting what is answered if the answer of the commit is lost. */
  async #noted(ctx: Context, waiting: readonly Waiting<Input, Row>[], tried: Tried<Row>): Promise<Outcome<Row>[]> {
    const outcomes = await this.#together(ctx, waiting);
    const [{ id }] = (await ctx.sql<{ id: string }>(TRANSACTION)) as [{ id: string }];
    Object.assign(tried, { transaction: id, outcomes });
    return outcomes;
  }

  /** Those who wait, or the first of them, in the order of their arrival and under one lock. */
  async #together(ctx: Context, waiting: readonly Waiting<Input, Row>[]): Promise<Outcome<Row>[]> {
    const batch = await this.shared.begin(ctx, await this.shared.lock(ctx, waiting[0]!.input), waiting);
    const outcomes: Outcome<Row>[] = [];
    const calls = waiting.slice(0, batch.size);
    for (const call of calls) outcomes.push(await this.#one(ctx, batch, call, calls.length === 1));
    await batch.end?.();
    await takeOver(
      ctx,
      outcomes.flatMap(one => ('own' in one ? one.own : [])),
    );
    return outcomes;
  }

  async #one(ctx: Context, batch: Batch<Input, Row>, call: Call<Input>, isAlone: boolean): Promise<Outcome<Row>> {
    const [own, { field, type }] = [memberOf(ctx, call), this.shared];
    try {
      const operation = { field, path: call.path, args: { input: call.input }, type };
      const row = (await once(own, operation, () => batch.one(own, call))) as Row;
      if (own.audits.length === 0) own.audit(field, (row as { id?: string }).id ?? null);
      return { row, own };
    } catch (error) {
      if (isAlone || !(error instanceof Problem)) throw error;
      return { error };
    }
  }

  /** What a transaction did all the same, the answer of whose commit was lost: else the callers would be told that they had come before. */
  async #done(
    [first]: readonly Waiting<Input, Row>[],
    { transaction, outcomes }: Tried<Row>,
    error: unknown,
  ): Promise<readonly Outcome<Row>[]> {
    if (!transaction || !isUnavailable(error)) throw error;
    const wasDone = await this.host.transaction(ctx => this.#isCommitted(ctx, first!.input, transaction)).catch(() => false);
    return wasDone ? outcomes! : Promise.reject(error as Error);
  }

  /** Whether a transaction whose commit gave no answer was committed; it may be under way still, and holds the lock until it is over. */
  async #isCommitted(ctx: Context, input: Input, transaction: string): Promise<boolean> {
    await this.shared.lock(ctx, input);
    const [row] = await ctx.sql<{ isCommitted: boolean | null }>(STATUS, [transaction]);
    return row?.isCommitted === true;
  }

  /** Whichever it is fails alone; two in a row that the database kept waiting stand for the rest. */
  async #apart(batch: readonly Waiting<Input, Row>[], first: unknown): Promise<number> {
    let last = batch.length === 1 ? first : null;
    for (const [at, one] of batch.entries()) {
      const error = batch.length === 1 ? first : await this.#errorOf(one);
      if (error !== null) one.reject(error);
      if (isUnavailable(error) && isUnavailable(last)) {
        batch.slice(at + 1).forEach(other => other.reject(error));
        break;
      }
      last = error;
    }
    return batch.length;
  }

  async #errorOf(one: Waiting<Input, Row>): Promise<unknown> {
    return this.#do([one]).then(
      () => null,
      (reason: unknown) => reason,
    );
  }
}

/**
 * Calls that would wait for each other: all that come to this process for one thing are done by one transaction, under one lock and with one
 * commit, each with an answer or an error, audit rows and events of its own. For a mutation with `@OwnTransactions`; it claims the
 * `Idempotency-Key` of each call itself.
 */
export class Together<Input, Locked, Row extends object> {
  readonly #queues = new WeakMap<ServiceHost, Map<string, Queue<Input, Locked, Row>>>();

  constructor(private readonly shared: Shared<Input, Locked, Row>) {}

  /** @throws Problem as what is shared */
  run(call: Call<Input>): Promise<Row> {
    const { host } = call.ctx;
    const [all, key] = [this.#queues.get(host) ?? new Map<string, Queue<Input, Locked, Row>>(), this.shared.keyOf(call.input)];
    this.#queues.set(host, all);
    const running = all.get(key);
    const queue = running ?? new Queue(host, this.shared);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ ...call, resolve, reject });
      if (running) return;
      all.set(key, queue);
      void atRoot(() => queue.run(() => all.delete(key)));
    });
  }
}
