import { AsyncLocalStorage } from 'node:async_hooks';
import { writeCallersAudit } from '../../../../runtime/data/audit.js';
import { refuseSecondConnection } from '../../../../runtime/data/transaction.js';
import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { chartAccount } from '../../rules/chart.js';
import type { LedgerEngine, Posting, PostOutcome } from '../ledger-engine.js';
import { MustOpen, postBatch, type Unit } from './batch.js';
import { SourceRace } from './rows.js';

/** How long the first posting of a batch waits for others, ms. */
const GATHER_MS = 3;
const MAX_POSTINGS = 512;
/** A transaction emits at most 2,000 events for 1,000 users. */
const MAX_EVENTS = 1_800;
const MAX_USERS = 900;
/** A batch that meets another process's sources is judged anew so often. */
const MAX_TRIES = 8;

interface Waiting extends Unit {
  load: Load;
  resolve(outcomes: PostOutcome[]): void;
  reject(error: unknown): void;
}

interface Load {
  postings: number;
  /** Wallets, each of which has an event. */
  wallets: Set<string>;
  users: Set<string>;
  flows: Set<string>;
}

/** Work of all callers is nobody's own: it inherits neither a caller's transaction nor its deadline. */
const atRoot = AsyncLocalStorage.snapshot();

function loadOf(postings: readonly Posting[]): Load {
  const codes = postings.flatMap(one => [
    ...one.entries.map(entry => entry.accountCode),
    ...(one.late?.opens ?? []),
    ...(one.late?.accounts ?? []),
  ]);
  const wallets = new Set(codes.filter(code => code.startsWith('liabilities:wallet:')));
  const owners = [...wallets].map(code => chartAccount(code)?.userId ?? code);
  const flows = postings.flatMap(one => [
    ...one.entries.flatMap(entry => entry.flowId ?? []),
    ...(one.late?.flows.map(flow => flow.flowId) ?? []),
    ...(one.late?.sources.map(source => source.id) ?? []),
  ]);
  return {
    postings: postings.length,
    wallets,
    users: new Set([...owners, ...postings.flatMap(one => one.userId ?? [])]),
    flows: new Set(flows),
  };
}

const added = (to: ReadonlySet<string>, more: ReadonlySet<string>): number => {
  let count = 0;
  for (const one of more) if (!to.has(one)) count++;
  return count;
};

/** Whether a batch has room for more. What depends on a flow does not share a batch with another of that flow, which it would not see. */
function fits(batch: Load, more: Load): boolean {
  const [wallets, users] = [batch.wallets.size + added(batch.wallets, more.wallets), batch.users.size + added(batch.users, more.users)];
  const postings = batch.postings + more.postings;
  const isApart = added(batch.flows, more.flows) === more.flows.size;
  return postings <= MAX_POSTINGS && postings + wallets <= MAX_EVENTS && users <= MAX_USERS && isApart;
}

function addTo(batch: Load, more: Load): void {
  batch.postings += more.postings;
  for (const name of ['wallets', 'users', 'flows'] as const) for (const one of more[name]) batch[name].add(one);
}

const NO_LOAD: Load = { postings: 0, wallets: new Set(), users: new Set(), flows: new Set() };

/** Whether postings can be booked in one commit. */
export const isOneBatch = (postings: readonly Posting[]): boolean => fits(NO_LOAD, { ...loadOf(postings), flows: new Set() });

async function audit(ctx: Context, units: readonly Unit[], outcomes: readonly PostOutcome[][]): Promise<void> {
  const rows = units.flatMap(({ postings }, unit) =>
    postings.flatMap(({ audit: action, origin, source }, at) => {
      const done = outcomes[unit]![at]!;
      if (!action || done.outcome === 'nothing' || done.outcome === 'rejected') return [];
      const details = { source: `${source.service}:${source.type}`, outcome: done.outcome };
      return [{ action, target: done.id, details, caller: origin.caller, requestId: origin.requestId }];
    }),
  );
  await writeCallersAudit(ctx.sql, ctx.schema, rows, ctx.now());
}

/** Begins anew where another process was first with a source, or accounts were missing. */
async function untilBooked<T>(work: (mustOpen: readonly string[]) => Promise<T>): Promise<T> {
  const mustOpen: string[] = [];
  for (let tries = 1; ; tries++) {
    try {
      return await work(mustOpen);
    } catch (error) {
      if (error instanceof MustOpen) mustOpen.push(...error.codes);
      else if (!(error instanceof SourceRace)) throw error;
      if (tries === MAX_TRIES) throw new Problem('unavailable', 'The ledger is busy', { retryAfter: 1, cause: error });
    }
  }
}

/** The books on PostgreSQL, with the postings of a process committed in groups. Source: accounting, Performance. */
class PostgresLedger implements LedgerEngine {
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  #running = false;

  constructor(private readonly host: ServiceHost) {}

  async post(postings: readonly Posting[], { atomic = false }: { atomic?: boolean } = {}): Promise<PostOutcome[]> {
    refuseSecondConnection(this.host);
    const units = atomic ? [postings] : postings.map(posting => [posting]);
    const done = await Promise.all(units.map(unit => this.#enqueue(unit)));
    return done.flat();
  }

  #enqueue(postings: readonly Posting[]): Promise<PostOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ postings, load: loadOf(postings), resolve, reject });
      if (this.#running) return;
      if (this.#waiting.length >= MAX_POSTINGS) this.#begin();
      else this.#timer ??= atRoot(() => setTimeout(() => this.#begin(), GATHER_MS));
    });
  }

  #begin(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#running) void atRoot(() => this.#run());
  }

  /** One batch after the other: what comes meanwhile is the next one. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) await this.#settle(this.#next());
    this.#running = false;
  }

  #next(): Waiting[] {
    const load: Load = { postings: 0, wallets: new Set(), users: new Set(), flows: new Set() };
    let count = 0;
    for (; count < this.#waiting.length; count++) {
      const more = this.#waiting[count]!.load;
      if (count > 0 && !fits(load, more)) break;
      addTo(load, more);
    }
    return this.#waiting.splice(0, count);
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await untilBooked(mustOpen => this.#commit(batch, mustOpen));
      batch.forEach((one, at) => one.resolve(outcomes[at]!));
    } catch (error) {
      if (batch.length === 1 || (error instanceof Problem && error.code === 'unavailable')) batch.forEach(one => one.reject(error));
      else for (const one of batch) await this.#settle([one]); // whichever it is fails alone
    }
  }

  #commit(units: readonly Unit[], mustOpen: readonly string[]): Promise<PostOutcome[][]> {
    return this.host.transaction(async ctx => {
      const outcomes = await postBatch(ctx, units, mustOpen);
      await audit(ctx, units, outcomes);
      return outcomes;
    });
  }
}

const engines = new WeakMap<ServiceHost, LedgerEngine>();

/** The ledger of a running service. */
export function ledgerOf(host: ServiceHost): LedgerEngine {
  let engine = engines.get(host);
  if (!engine) engines.set(host, (engine = new PostgresLedger(host)));
  return engine;
}

/** Books one posting in the running transaction of a mutation or timer. @throws Problem conflict where another process was first. */
export async function postHere(ctx: Context, postings: readonly Posting[]): Promise<PostOutcome[]> {
  try {
    return (
      await postBatch(
        ctx,
        postings.map(posting => ({ postings: [posting] })),
      )
    ).flat();
  } catch (error) {
    if (error instanceof SourceRace)
      throw new Problem('conflict', 'It was changed meanwhile', { reason: 'version_conflict', cause: error });
    throw error;
  }
}
