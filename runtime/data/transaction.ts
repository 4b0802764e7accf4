import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ConnectionException,
  DeadlockException,
  ForeignKeyConstraintViolationException,
  LockWaitTimeoutException,
  OptimisticLockError,
  UniqueConstraintViolationException,
} from '@mikro-orm/postgresql';
import { appendEvents } from '../../events/outbox.js';
import { lastOfTransaction, prepared } from '../../events/prepared.js';
import { besideAudit, writeAudit } from './audit.js';
import { GATHER } from './round-trips.js';
import { fixedClock } from '../time/clock.js';
import type { Context, ServiceHost } from '../request/context.js';
import { Problem } from '../request/errors.js';

/** SQLSTATE classes that mean "try again later": serialization, deadlock, lock timeout, statement timeout, shutdown, no connection. */
const TRANSIENT = new Set([
  '40001',
  '40P01',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '25P03',
  '08000',
  '08001',
  '08003',
  '08006',
  '53300',
]);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND']);

const sqlState = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

/** U+0000 in a text, in jsonb, and in a statement's own text, which it cuts short. The REST adapter refuses it by pointer, GraphQL's variables come here. */
const UNSTORABLE = new Set(['22021', '22P05', '08P01']);

/** JSON with a lone surrogate, which JavaScript writes and PostgreSQL refuses to read; in a plain text it becomes U+FFFD. */
const isHalfPair = (error: Error): boolean =>
  sqlState(error) === '22P02' && /surrogate/i.test(String((error as { detail?: unknown }).detail));

const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionException ||
  error instanceof DeadlockException ||
  error instanceof LockWaitTimeoutException ||
  TRANSIENT.has(sqlState(error)) ||
  UNREACHABLE.has(sqlState(error)) ||
  /Connection terminated|timeout exceeded when trying to connect|is not queryable/.test(String((error as Error)?.message));

/** What a database error means to a caller; anything unknown stays what it is and is masked at the edge. */
export function databaseProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  if (error instanceof OptimisticLockError)
    return new Problem('conflict', 'It was changed meanwhile', { reason: 'version_conflict', cause: error });
  if (error instanceof UniqueConstraintViolationException || sqlState(error) === '23505')
    return new Problem('conflict', 'It exists already', { cause: error });
  if (error instanceof ForeignKeyConstraintViolationException || sqlState(error) === '23503')
    return new Problem('conflict', 'It refers to something that is not there', { cause: error });
  if (UNSTORABLE.has(sqlState(error))) return new Problem('invalid_request', 'A text must not contain U+0000', { cause: error });
  if (isHalfPair(error)) return new Problem('invalid_request', 'A text must not contain half a surrogate pair', { cause: error });
  return isTransient(error) ? new Problem('unavailable', 'The service cannot do this right now', { retryAfter: 1, cause: error }) : error;
}

/** With `CLOCK=manual` the transaction's time is the row of `test_clock`; null: never set, so the wall clock. */
export async function readManualClock(ctx: Context): Promise<Date | null> {
  const [row] = await ctx.sql<{ now: string }>(
    prepared(`select to_char(now at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now from ${ctx.schema}.test_clock`),
  );
  return row ? new Date(row.now) : null;
}

async function holdClock(ctx: Context): Promise<Date | null> {
  if (!ctx.host.config.manualClock) return null;
  const manual = await readManualClock(ctx);
  if (manual) ctx.clock = fixedClock(manual);
  return manual;
}

function reset(ctx: Context): void {
  ctx.events.length = 0;
  ctx.audits.length = 0;
  ctx.lastSteps.length = 0;
  ctx.lastWrites.length = 0;
  ctx.locked = new WeakSet();
  ctx.inTransaction = false;
}

async function takeLastSteps(ctx: Context): Promise<void> {
  for (let step = ctx.lastSteps.shift(); step; step = ctx.lastSteps.shift()) await step();
  await ctx.em.flush();
}

/** @param isLast nothing but the commit follows. */
async function sendLastWrites(ctx: Context, isLast: boolean): Promise<void> {
  for (let write = ctx.lastWrites.shift(); write; write = ctx.lastWrites.shift())
    await ctx.sql((isLast && ctx.lastWrites.length === 0 ? lastOfTransaction : prepared)(write.text), write.params);
}

/** Entity rows, last steps and writes, then audit rows and the outbox in the last statement, because it takes the order locks; then the commit. */
async function settle(ctx: Context, manual: Date | null): Promise<void> {
  await ctx.sql(GATHER);
  await ctx.em.flush();
  if (ctx.lastSteps.length > 0) await takeLastSteps(ctx);
  const emits = ctx.events.length > 0;
  await sendLastWrites(ctx, !emits && ctx.audits.length === 0);
  if (emits) {
    await appendEvents(besideAudit(ctx, ctx.audits), ctx.events, manual, true);
    ctx.afterCommit(() => ctx.host.transport.wake()); // an idle relay looks four times a second only
  } else await writeAudit(ctx, ctx.audits, true);
  await commit(ctx);
}

/** `em.commit()` without its flush: every entity has been compared a moment before. */
async function commit({ em }: Context): Promise<void> {
  await em.getConnection('write').commit(em.getTransactionContext()!);
  em.resetTransactionContext();
}

async function runHooks(ctx: Context): Promise<void> {
  for (const hook of ctx.hooks.splice(0)) {
    try {
      await hook();
    } catch (error) {
      ctx.log.warn({ err: error instanceof Error ? error.name : 'error' }, 'a hook after the commit failed');
    }
  }
}

/** Which service's connection the running code holds in a transaction. */
const holding = new AsyncLocalStorage<{ host: ServiceHost; open: boolean }>();

async function holdingConnection<T>({ host }: Context, work: () => Promise<T>): Promise<T> {
  const held = { host, open: true };
  return holding.run(held, work).finally(() => (held.open = false));
}

/**
 * A transaction that waits for a second connection of its pool, while others wait for its locks with the rest of them, waits until the
 * server ends it. @throws Error inside a transaction of the same service: its own `ctx.sql` and `ctx.em` are to be used.
 */
export function refuseSecondConnection(host: ServiceHost): void {
  const held = holding.getStore();
  if (held?.open && held.host === host) throw new Error(`${host.slug} asked for a second connection inside a transaction`);
}

/**
 * The only opener of transactions: the change, its audit rows and its events commit together or not at all.
 * @throws Problem conflict for a lost race or a taken unique value, unavailable for a database that cannot be reached.
 */
export async function inTransaction<T>(ctx: Context, work: () => Promise<T>): Promise<T> {
  if (ctx.inTransaction) throw new Error('a transaction is open already; use ctx.savepoint');
  try {
    await ctx.em.begin();
    ctx.inTransaction = true;
    const manual = await holdClock(ctx);
    const result = await holdingConnection(ctx, async () => {
      const done = await work();
      await settle(ctx, manual);
      return done;
    });
    reset(ctx);
    await runHooks(ctx);
    return result;
  } catch (error) {
    noteDeadlock(ctx, error);
    await rollback(ctx);
    throw databaseProblem(error);
  }
}

/** Two transactions that lock each other out are a fault of ours. The caller is only told to try again, so the log says where it was. */
function noteDeadlock(ctx: Context, error: unknown): void {
  if (error instanceof Error && sqlState(error) === '40P01')
    ctx.log.error({ where: (error as { where?: string }).where ?? null }, 'two transactions locked each other out');
}

async function rollback(ctx: Context): Promise<void> {
  const begun = ctx.inTransaction;
  reset(ctx);
  ctx.hooks.length = 0;
  if (begun) await ctx.em.rollback().catch(() => undefined); // the connection may be gone; the first error is the one to tell
  ctx.em.clear();
  ctx.loaders.clear();
}
