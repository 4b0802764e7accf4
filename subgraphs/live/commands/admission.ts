import { AsyncLocalStorage } from 'node:async_hooks';
import { writeCallersAudit } from '../../../runtime/data/audit.js';
import { once } from '../../../runtime/data/idempotency.js';
import { Context, type ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import type { RequestInfo } from '../../../runtime/request/request.js';
import { LiveRegistrationStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import type { LiveSession } from '../entities/session.js';
import type { RegisterForLiveSessionInput } from '../inputs/registration.js';
import { asked, lockSession, register } from './registration.js';

/** Admitted by one transaction at most; two events each stay far below the 2,000 that one may emit. Source: live 8. */
const MAX_TOGETHER = 50;

/** A registration that waits for the lock of its session. */
interface Waiting {
  ctx: Context;
  input: RegisterForLiveSessionInput;
  /** Response path: with the key of the request what its answer is kept under. */
  path: string;
  resolve(row: LiveRegistration): void;
  reject(error: unknown): void;
}

type Outcome = { row: LiveRegistration; own: Context } | { error: unknown };

/** What a transaction would answer, known before its commit: the database says later whether it was committed. */
interface Tried {
  transaction?: string;
  outcomes?: readonly Outcome[];
}

/** Work of all callers is nobody's own: it inherits neither a caller's transaction nor its deadline. */
const atRoot = AsyncLocalStorage.snapshot();

const isUnavailable = (error: unknown): boolean => error instanceof Problem && error.code === 'unavailable';

/** The running transaction as one caller's: events, audit rows and hooks are kept apart, so that who is refused leaves none. */
function memberOf(ctx: Context, { ctx: { request, facts } }: Waiting): Context {
  const own: RequestInfo = { ...request, status: null, contexts: new Map() };
  return Object.assign(new Context(ctx.host, ctx.em, own, ctx.clock), { facts, inTransaction: true });
}

/** What a caller's work leaves, taken over by the transaction. */
async function takeOver(ctx: Context, members: readonly Context[]): Promise<void> {
  ctx.events.push(...members.flatMap(({ events }) => events));
  ctx.hooks.push(...members.flatMap(({ hooks }) => hooks));
  const rows = members.flatMap(({ audits, caller, request }) => audits.map(row => ({ ...row, caller, requestId: request.id })));
  await writeCallersAudit(ctx.sql, ctx.schema, rows, ctx.now());
}

/** Registrations of those who wait, before they are admitted, by user. */
async function knownOf(ctx: Context, session: LiveSession, waiting: readonly Waiting[]): Promise<Map<string, LiveRegistration>> {
  const users = waiting.map(one => asked.of(one.ctx).userId);
  const rows = await ctx.em.find(LiveRegistration, { sessionId: session.id, userId: { $in: users } }, { refresh: true });
  return new Map(rows.map(row => [row.userId, row]));
}

/** An offer is taken or runs out, which moves the queue before it may still be refused: such a registration has a transaction of its own. */
const isApart = (known: ReadonlyMap<string, LiveRegistration>, { ctx }: Waiting): boolean =>
  known.get(asked.of(ctx).userId)?.status === LiveRegistrationStatus.OFFERED;

const FIELD = 'registerForLiveSession';

/** Registers one of a batch. @throws Problem, having changed nothing unless it is alone. */
async function admitOne(
  ctx: Context,
  { input, path }: Waiting,
  session: LiveSession,
  known: Map<string, LiveRegistration>,
): Promise<LiveRegistration> {
  const { userId } = asked.of(ctx);
  const work = () => register(ctx, session, { before: known.get(userId) ?? null, overrideCapacity: input.overrideCapacity });
  const row = (await once(ctx, { field: FIELD, path, args: { input }, type: LiveRegistration.name }, work)) as LiveRegistration;
  if (ctx.audits.length === 0) ctx.audit(FIELD, row.id);
  known.set(userId, row);
  return row;
}

/** Those who wait, or the first of them, in the order of their arrival and under one lock of their session. */
async function admitTogether(ctx: Context, waiting: readonly Waiting[]): Promise<Outcome[]> {
  const session = await lockSession(ctx, waiting[0]!.input.sessionId);
  const known = await knownOf(ctx, session, waiting);
  const apart = waiting.findIndex(one => isApart(known, one));
  const batch = apart < 0 ? waiting : waiting.slice(0, Math.max(1, apart));
  const outcomes: Outcome[] = [];
  for (const one of batch) {
    const own = memberOf(ctx, one);
    const refused = (error: unknown): Outcome =>
      (batch.length > 1 && error instanceof Problem ? { error } : Promise.reject(error as Error)) as Outcome;
    outcomes.push(await admitOne(own, one, session, known).then(row => ({ row, own }), refused));
  }
  await takeOver(
    ctx,
    outcomes.flatMap(one => ('own' in one ? one.own : [])),
  );
  return outcomes;
}

const TRANSACTION = 'select pg_current_xact_id()::text as id';
const STATUS = `select pg_xact_status($1::text::xid8) = 'committed' as "isCommitted"`;

/** The same, noting what is answered if the answer of the commit is lost. */
async function noted(ctx: Context, waiting: readonly Waiting[], tried: Tried): Promise<Outcome[]> {
  const outcomes = await admitTogether(ctx, waiting);
  const [{ id }] = (await ctx.sql<{ id: string }>(TRANSACTION)) as [{ id: string }];
  Object.assign(tried, { transaction: id, outcomes });
  return outcomes;
}

/** Whether a transaction whose commit gave no answer was committed; it may be under way still, and holds the session's lock until it is over. */
async function isCommitted(ctx: Context, sessionId: string, transaction: string): Promise<boolean> {
  await lockSession(ctx, sessionId);
  const [row] = await ctx.sql<{ isCommitted: boolean | null }>(STATUS, [transaction]);
  return row?.isCommitted === true;
}

/** The answer of the transaction, as if the caller's own request had done it. */
function answer({ ctx, resolve, reject }: Waiting, outcome: Outcome): void {
  if ('error' in outcome) return reject(outcome.error);
  const { status, isReplayed } = outcome.own.request;
  Object.assign(ctx.request, { status, isReplayed, leavesTrace: true });
  ctx.em.clear(); // what it had read before
  ctx.loaders.clear();
  resolve(outcome.row);
}

/** Registrations of one session, of all callers of this process: while one transaction runs, the next ones gather. */
class Admissions {
  readonly waiting: Waiting[] = [];

  constructor(private readonly host: ServiceHost) {}

  /** Ends when nobody waits any more, and is `over` in the same turn, so that nobody comes too late to be seen. */
  async run(over: () => void): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, MAX_TOGETHER);
      this.waiting.splice(0, await this.#admit(batch).catch(error => this.#apart(batch, error)));
    }
    over();
  }

  /** @returns how many were answered. @throws Problem what the transaction did not do. */
  async #admit(batch: readonly Waiting[]): Promise<number> {
    const tried: Tried = {};
    const outcomes = await this.host.transaction(ctx => noted(ctx, batch, tried)).catch(error => this.#done(batch, tried, error));
    outcomes.forEach((outcome, at) => answer(batch[at]!, outcome));
    return outcomes.length;
  }

  /** What a transaction did all the same, the answer of whose commit was lost: else the callers would be told that they had registered before. */
  async #done([first]: readonly Waiting[], { transaction, outcomes }: Tried, error: unknown): Promise<readonly Outcome[]> {
    if (!transaction || !isUnavailable(error)) throw error;
    const wasDone = await this.host.transaction(ctx => isCommitted(ctx, first!.input.sessionId, transaction)).catch(() => false);
    return wasDone ? outcomes! : Promise.reject(error as Error);
  }

  /** Whichever it is fails alone; two in a row that the database kept waiting stand for the rest. */
  async #apart(batch: readonly Waiting[], first: unknown): Promise<number> {
    let last = batch.length === 1 ? first : null;
    for (const [at, one] of batch.entries()) {
      const error =
        batch.length === 1
          ? first
          : await this.#admit([one]).then(
              () => null,
              (reason: unknown) => reason,
            );
      if (error !== null) one.reject(error);
      if (isUnavailable(error) && isUnavailable(last)) {
        batch.slice(at + 1).forEach(other => other.reject(error));
        break;
      }
      last = error;
    }
    return batch.length;
  }
}

const admissions = new WeakMap<ServiceHost, Map<string, Admissions>>();

function admissionsOf(host: ServiceHost): Map<string, Admissions> {
  let known = admissions.get(host);
  if (!known) admissions.set(host, (known = new Map()));
  return known;
}

/**
 * Registers somebody, together with all others who wait for the same session in this process: one lock, one commit, each with an answer or
 * an error of their own. @throws Problem as {@link register}
 */
export function admit(ctx: Context, input: RegisterForLiveSessionInput, path: string): Promise<LiveRegistration> {
  const [all, id] = [admissionsOf(ctx.host), input.sessionId.toLowerCase()];
  const running = all.get(id);
  const queue = running ?? new Admissions(ctx.host);
  return new Promise((resolve, reject) => {
    queue.waiting.push({ ctx, input, path, resolve, reject });
    if (running) return;
    all.set(id, queue);
    void atRoot(() => queue.run(() => all.delete(id)));
  });
}
