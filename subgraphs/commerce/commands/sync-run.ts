import { newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { CommerceSyncStatus } from '../entities/enums.js';
import { CommerceSyncJob } from '../entities/sync.js';
import { brandOf } from '../ports/brands.js';
import { storefrontOf } from '../ports/storefront.js';
import { StorefrontBusy } from '../ports/storefront-port.js';
import { failed, MOST_ATTEMPTS, pauseAfter, type Outcome } from '../rules/storefront.js';
import { SYNC_KINDS, type Exchange, type SyncKind } from './sync-kinds.js';
import { endSync } from './sync.js';

/** A run that its process has not moved on by then is taken over. */
export const SYNC_LEASE_MS = 5 * MINUTE_MS;

const { QUEUED, RUNNING, SUCCEEDED, PARTIAL, FAILED } = CommerceSyncStatus;

/** The run was ended by somebody, or has seen as much as it may. */
class Over extends Error {}

/** A dry run takes nothing over: its transaction is undone, its outcome is not. */
class Undone extends Error {
  constructor(readonly outcome: Outcome) {
    super('a dry run');
  }
}

type Key = ReturnType<SyncKind['keyOf']>;

const SEEN = 'insert into commerce.commerce_sync_record (job_id, key) values ($1, $2) on conflict do nothing returning 1';
const FAILURE = 'insert into commerce.commerce_sync_failure (id, job_id, external_id, entity_id, code) values ($1, $2, $3, $4, $5)';

/** The run, locked, while it may go on. @throws Over. */
async function lockRunning(ctx: Context, id: string): Promise<CommerceSyncJob> {
  const job = await lockRow(ctx, CommerceSyncJob, { id });
  if (job.status !== RUNNING || (job.most !== null && job.counts.seen >= job.most)) throw new Over();
  return job;
}

/** Counts a record, in the transaction that takes it over: what is counted is taken over, and nothing twice. */
async function count(ctx: Context, id: string, { externalId, entityId }: Key, { kind, code }: Outcome): Promise<void> {
  const job = await lockRunning(ctx, id);
  const { counts } = job;
  Object.assign(job, { counts: { ...counts, seen: counts.seen + 1, [kind]: counts[kind] + 1 }, attempts: 0 });
  if (code !== undefined) await ctx.sql(FAILURE, [newId(), id, externalId, entityId, code]);
}

const isFirst = async (ctx: Context, id: string, { externalId, entityId }: Key): Promise<boolean> =>
  (await ctx.sql(SEEN, [id, externalId ?? entityId])).length > 0;

/** What a record could not be taken over for. A refusal is its reason; anything else is logged, and stops no other record. */
function failureOf({ log }: ServiceHost, error: unknown): Outcome {
  if (error instanceof Problem) return failed(error.options.reason ?? error.code);
  log.error({ err: loggedError(error) }, 'a record of the storefront could not be taken over');
  return failed('internal');
}

/** Asks others about a record. @returns a failure of the record. @throws Error where they cannot be had: then the run waits. */
async function factsOf(exchange: Exchange, kind: SyncKind, row: unknown): Promise<{ facts?: unknown; failure?: Outcome }> {
  try {
    return { facts: await kind.prepare(exchange, row) };
  } catch (error) {
    if (error instanceof Problem && error.code !== 'unavailable' && error.code !== 'internal')
      return { failure: failureOf(exchange.host, error) };
    throw error;
  }
}

/** Takes one record over in a transaction that counts it, once in a run. */
async function takeOne(exchange: Exchange, { id, kind }: CommerceSyncJob, row: unknown): Promise<void> {
  const { host, isDryRun } = exchange;
  const one = SYNC_KINDS[kind];
  const key = one.keyOf(row);
  const record = (take: (ctx: Context) => Promise<Outcome>): Promise<void> =>
    host.transaction(async ctx => {
      if (await isFirst(ctx, id, key)) await count(ctx, id, key, await take(ctx));
    });
  const { facts, failure } = await factsOf(exchange, one, row);
  if (failure) return record(async () => failure);
  try {
    await record(async ctx => {
      const outcome = await one.take(ctx, exchange, row, facts);
      if (isDryRun) throw new Undone(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof Over) throw error;
    const outcome = error instanceof Undone ? error.outcome : failureOf(host, error);
    await record(async () => outcome);
  }
}

/** Counts and names a record that cannot be read, once in a run. */
const leaveOut = ({ host }: Exchange, id: string, externalId: string): Promise<void> =>
  host.transaction(async ctx => {
    const key = { externalId, entityId: null };
    if (await isFirst(ctx, id, key)) await count(ctx, id, key, failed('malformed_record'));
  });

/** Moves a run on to its next page; its lease begins anew. */
const turnPage = ({ host }: Exchange, id: string, cursor: string): Promise<void> =>
  host.transaction(async ctx => {
    const job = await lockRunning(ctx, id);
    Object.assign(job, { cursor, dueAt: after(ctx.now(), SYNC_LEASE_MS) });
  });

async function pages(ctx: Context, exchange: Exchange, job: CommerceSyncJob): Promise<void> {
  const one = SYNC_KINDS[job.kind];
  const { brandId, since, ids } = job;
  for (let cursor = job.cursor; ;) {
    const { records, malformed = [], next } = await one.page(exchange, { brandId, since, ids, cursor });
    for (const externalId of malformed) await leaveOut(exchange, job.id, externalId);
    for (const row of records) {
      await takeOne(exchange, job, row);
      if (!exchange.isDryRun) await one.tell?.(ctx, exchange, row);
    }
    if (next === null) return;
    await turnPage(exchange, job.id, next);
    cursor = next;
  }
}

const finish = (exchange: Exchange, id: string): Promise<void> =>
  exchange.host.transaction(async ctx => {
    const job = await lockRow(ctx, CommerceSyncJob, { id });
    if (job.status === RUNNING) await endSync(ctx, job, job.counts.failed > 0 ? PARTIAL : SUCCEEDED);
  });

/** The storefront, or a neighbour, cannot be had: the run goes on later where it is, and is given up after eight times in a row. */
async function postpone({ host, log }: Context, id: string, error: unknown): Promise<void> {
  log.warn({ err: loggedError(error), sync: id }, 'a run of the storefront waits');
  await host.transaction(async ctx => {
    const job = await lockRow(ctx, CommerceSyncJob, { id });
    if (job.status !== RUNNING) return;
    const busy = error instanceof StorefrontBusy ? error : null;
    if (!busy || busy.isDown) job.attempts += 1; // a limit that is obeyed is no failure
    if (job.attempts > MOST_ATTEMPTS) {
      await ctx.sql(FAILURE, [newId(), id, null, null, 'storefront_unavailable']);
      return endSync(ctx, job, FAILED);
    }
    job.dueAt = after(ctx.now(), pauseAfter(job.attempts, busy?.waitMs ?? null));
  });
}

/** Begins, or goes on. */
const begin = ({ host }: Context, id: string): Promise<CommerceSyncJob> =>
  host.transaction(async ctx => {
    const job = await lockRow(ctx, CommerceSyncJob, { id });
    if (job.status === QUEUED) Object.assign(job, { status: RUNNING, startedAt: ctx.now() });
    return job;
  });

/** Works on a run outside transactions: each record in one of its own, so that none undoes another. Source: commerce 7.27 to 7.30. */
export async function runSync(ctx: Context, { id }: CommerceSyncJob): Promise<void> {
  const job = await begin(ctx, id);
  if (job.status !== RUNNING) return;
  const { host } = ctx;
  try {
    const exchange = { host, port: storefrontOf(host), brand: await brandOf(host, { id: job.brandId }), isDryRun: job.isDryRun };
    await pages(ctx, exchange, job).catch(error => {
      if (!(error instanceof Over)) throw error;
    });
    await finish(exchange, id);
  } catch (error) {
    await postpone(ctx, id, error);
  }
}
