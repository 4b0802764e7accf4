import { prepared } from '../../../../events/prepared.js';
import { newId } from '../../../../runtime/data/ids.js';
import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { Book, type AccountState } from '../../rules/book.js';
import { chartAccount } from '../../rules/chart.js';
import { entryViolations, type EntryDraft } from '../../rules/entries.js';
import { cut, deposit, newSchedule, setPeriod, type Schedule } from '../../rules/recognition.js';
import { sourceKey, type Facts, type Flow, type Posting, type PostOutcome, type Source } from '../ledger-engine.js';
import { lockAccounts, storeAccounts } from './accounts.js';
import { tell } from './events.js';
import { knownSources, readFacts, resolvedOf, type Known } from './facts.js';
import { storeBooked, type Booked } from './rows.js';
import { lockSchedules, storeSchedules } from './schedules.js';

const BEGIN = prepared('select posted_ms, closed_ms from accounting.begin_posting($1::timestamptz)');

/** Entries that depend on the books name accounts that are not open yet: the batch begins anew with them. */
export class MustOpen extends Error {
  constructor(readonly codes: readonly string[]) {
    super();
  }
}

/** Postings that are booked together or not at all. */
export interface Unit {
  postings: readonly Posting[];
}

const refused = (reason: string, detail: string): Problem => new Problem('conflict', detail, { reason });
const codesOf = (entries: readonly EntryDraft[] | undefined): string[] => (entries ?? []).map(one => one.accountCode);
const keysOf = (entries: readonly EntryDraft[]): string[] => entries.flatMap(one => one.recognition?.key ?? one.recognitionCut?.key ?? []);

/** What a fact that was told wrongly would break: it is refused before it reaches the tables, so that the rest of the batch goes on. */
function misfitOf({ entries, metadata }: Posting): Problem | null {
  if (entries.length === 0) return null;
  const errors = entryViolations(entries, metadata, code => chartAccount(code) !== null, '/entries');
  return errors.length === 0 ? null : new Problem('invalid_request', 'The fact makes no valid entries', { errors });
}

/** One batch: everything that it reads under its locks, and what it books in memory. */
class Batch {
  readonly #booked: Booked[] = [];
  readonly #schedules = new Map<string, Schedule>();
  readonly #changed = new Set<string>();

  constructor(
    private readonly book: Book,
    private readonly known: Map<string, Known>,
    private readonly resolved: Map<string, string>,
    schedules: ReadonlyMap<string, Schedule>,
    private readonly facts: Facts,
    private readonly times: { now: Date; postedAt: Date; openFrom: Date | null },
  ) {
    for (const [key, schedule] of schedules) this.#schedules.set(key, schedule);
    this.facts = { ...facts, schedule: key => this.#schedules.get(key) ?? null };
  }

  /** All of a unit, or nothing of it: then each says why, and those that were not at fault that they were not booked. */
  take({ postings }: Unit): PostOutcome[] {
    if (postings.length === 1) return [this.#one(postings[0]!)];
    const [undo, schedules, mark] = [this.book.checkpoint(), new Map(this.#schedules), this.#booked.length];
    const outcomes = postings.map(posting => this.#one(posting));
    if (outcomes.every(one => one.outcome !== 'rejected')) return outcomes;
    undo();
    for (const { posting } of this.#booked.splice(mark)) this.known.delete(sourceKey(posting.source));
    this.#schedules.clear();
    for (const [key, schedule] of schedules) this.#schedules.set(key, schedule);
    const aborted = { outcome: 'rejected', problem: refused('batch_aborted', 'Another transaction of the batch was refused') } as const;
    return outcomes.map(one => (one.outcome === 'rejected' || one.outcome === 'exists' ? one : aborted));
  }

  #one(posting: Posting): PostOutcome {
    const late = posting.late?.build(this.facts);
    const made = late ? { ...posting, ...late, metadata: { ...posting.metadata, ...late.metadata } } : posting;
    const repeated = made.resolves || made.reverses ? null : this.#repeated(made); // a second one of these is a conflict
    if (repeated) return repeated;
    const wrong = this.#refusal(made);
    if (wrong) return { outcome: 'rejected', problem: wrong };
    const misfit = made.isFact ? misfitOf(made) : null;
    if (misfit) return { outcome: 'rejected', problem: misfit };
    this.#requireOpen(made.entries);
    if (made.entries.length === 0) return this.#keep(late?.schedules ?? []);
    const { entries, refusal } = this.book.book({ ...made, reserved: made.resolves?.reserved });
    if (refusal) return { outcome: 'rejected', problem: refused(refusal.reason, refusal.detail) };
    this.#keep(late?.schedules ?? this.#recognised(made));
    return this.#accept(made, entries);
  }

  #keep(schedules: readonly Schedule[]): PostOutcome {
    for (const schedule of schedules) {
      this.#schedules.set(schedule.key, schedule);
      this.#changed.add(schedule.key);
    }
    return { outcome: 'nothing' };
  }

  /** The first transaction of a source is its only one. */
  #repeated({ source, requestHash }: Posting): PostOutcome | null {
    const before = this.known.get(sourceKey(source));
    if (!before) return null;
    if (requestHash && before.requestHash && !requestHash.equals(before.requestHash)) {
      const problem = new Problem('idempotency_mismatch', 'This source was posted with another content');
      return { outcome: 'rejected', problem };
    }
    return { outcome: 'exists', id: before.id };
  }

  #refusal(posting: Posting): Problem | null {
    const { resolves, reverses, effectiveAt, isFact } = posting;
    const { openFrom, now } = this.times;
    if (resolves) {
      const what = this.resolved.get(resolves.pendingId);
      if (what) return refused(`already_${what}`, `The pending transaction is ${what} already`);
      if (resolves.outcome !== 'expired' && resolves.expiresAt <= now) return refused('expired', 'The pending transaction has expired');
    }
    if (reverses && this.resolved.has(reverses.id)) return refused('already_reversed', 'The transaction is reversed already');
    if (!isFact && openFrom && (effectiveAt ?? now) < openFrom) return refused('period_closed', 'The accounting period is closed');
    return null;
  }

  #requireOpen(entries: readonly EntryDraft[]): void {
    const missing = codesOf(entries).filter(code => !this.book.accounts.has(code));
    if (missing.length > 0) throw new MustOpen(missing);
  }

  /** Schedules that entries of deferred revenue open or cut. A key that has an amount already gets more of it only by its events. */
  #recognised({ entries, userId }: Posting): Schedule[] {
    const found = new Map<string, Schedule>();
    const at = (key: string, currency: string): Schedule => found.get(key) ?? this.#schedules.get(key) ?? newSchedule(key, currency);
    for (const { recognition, recognitionCut, amount, currency } of entries) {
      if (recognition) {
        const { key, from, to, subscriptionId } = recognition;
        const opened = deposit(at(key, currency), amount, { userId: recognition.userId ?? userId, subscriptionId: subscriptionId ?? null });
        found.set(key, from && to ? setPeriod(opened, from, to) : opened);
      }
      if (recognitionCut) found.set(recognitionCut.key, cut(at(recognitionCut.key, currency), recognitionCut.amount));
    }
    return [...found.values()];
  }

  #accept(posting: Posting, entries: Booked['entries']): PostOutcome {
    const { now, postedAt, openFrom } = this.times;
    const asked = posting.effectiveAt ?? now;
    const isMoved = openFrom !== null && asked < openFrom;
    const metadata = isMoved ? { ...posting.metadata, original_effective_at: asked.toISOString() } : posting.metadata;
    const one = { id: newId(), posting: { ...posting, metadata }, effectiveAt: isMoved ? openFrom : asked, postedAt, entries };
    this.#booked.push(one);
    this.known.set(sourceKey(posting.source), { id: one.id, requestHash: posting.requestHash, metadata });
    if (posting.resolves) this.resolved.set(posting.resolves.pendingId, posting.resolves.outcome);
    if (posting.reverses) this.resolved.set(posting.reverses.id, 'reversed');
    return { outcome: 'created', id: one.id };
  }

  /** Writes it all, a statement for each table; the outbox follows at the commit. */
  async store(ctx: Context): Promise<void> {
    await storeBooked(ctx, this.#booked);
    const changes = this.book.changes();
    tell(ctx, this.#booked, this.book.accounts, changes);
    await storeAccounts(
      ctx,
      changes.map(one => one.after),
    );
    await storeSchedules(
      ctx.sql,
      [...this.#changed].sort().flatMap(key => this.#schedules.get(key) ?? []),
    );
  }
}

const instant = (ms: string | null): Date | null => (ms === null ? null : new Date(Number(ms)));

interface Asked {
  wanted: Set<string>;
  others: Set<string>;
  sources: Source[];
  resolvable: string[];
  schedules: string[];
  flows: Flow[];
  lateSources: Source[];
}

/** Everything that the postings of a batch name. */
function askedBy(postings: readonly Posting[], mustOpen: readonly string[]): Asked {
  const lates = postings.flatMap(posting => posting.late ?? []);
  const lateSources = lates.flatMap(late => late.sources);
  return {
    wanted: new Set([
      ...postings.flatMap(one => [...codesOf(one.entries), ...codesOf(one.resolves?.reserved), ...(one.late?.opens ?? [])]),
      ...mustOpen,
    ]),
    others: new Set(lates.flatMap(late => late.accounts)),
    sources: [...postings.map(one => one.source), ...lateSources],
    resolvable: postings.flatMap(one => one.resolves?.pendingId ?? one.reverses?.id ?? []),
    schedules: [...new Set([...postings.flatMap(one => keysOf(one.entries)), ...lates.flatMap(late => late.schedules)])],
    flows: lates.flatMap(late => late.flows),
    lateSources,
  };
}

/**
 * Books units in the running transaction, which must not have written before. Accounts are locked once, in id order, then schedules by key.
 * @throws SourceRace, MustOpen: the transaction is to be begun anew.
 */
export async function postBatch(ctx: Context, units: readonly Unit[], mustOpen: readonly string[] = []): Promise<PostOutcome[][]> {
  const asked = askedBy(
    units.flatMap(unit => unit.postings),
    mustOpen,
  );
  const [begun] = await ctx.sql<{ posted_ms: string; closed_ms: string | null }>(BEGIN, [ctx.now().toISOString()]);
  const times = { now: ctx.now(), postedAt: instant(begun!.posted_ms)!, openFrom: instant(begun!.closed_ms) };
  const accounts: Map<string, AccountState> = await lockAccounts(ctx, asked.wanted, asked.others, times.postedAt);
  const known = await knownSources(ctx, asked.sources);
  const resolved = await resolvedOf(ctx, asked.resolvable);
  const schedules = await lockSchedules(ctx, asked.schedules);
  const facts = await readFacts(ctx, known, { sources: asked.lateSources, flows: asked.flows });
  const batch = new Batch(new Book(accounts), known, resolved, schedules, { ...facts, schedule: () => null, now: times.now }, times);
  const outcomes = units.map(unit => batch.take(unit));
  await batch.store(ctx);
  return outcomes;
}
