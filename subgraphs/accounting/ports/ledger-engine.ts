import type { Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { LedgerTransactionKind } from '../entities/enums.js';
import type { EntryDraft } from '../rules/entries.js';
import type { Schedule } from '../rules/recognition.js';

/** A fact is booked once, whoever tells it how often. Source: accounting 7.3. */
export interface Source {
  service: string;
  type: string;
  id: string;
}

export const sourceKey = ({ service, type, id }: Source): string => `${service}\n${type}\n${id}`;

/** Who asked, and why; carried on by events and the audit. */
export interface Origin {
  caller: Caller;
  actor: string;
  requestId: string | null;
  causationId: string | null;
  traceparent: string | null;
}

export const originOf = ({ caller, request, causationId }: Context): Origin => ({
  caller,
  actor: actorOf(caller),
  requestId: request.id,
  causationId,
  traceparent: request.traceparent,
});

/** What the books know of a flow, read under the locks of the batch. */
export interface Facts {
  now: Date;
  schedule(key: string): Schedule | null;
  /** Σ of a flow through an account, on its normal side. */
  flow(accountCode: string, flowId: string): number;
  transaction(source: Source): { id: string; metadata: Record<string, unknown>; entries: EntryDraft[] } | null;
}

/** Entries that one thing connects through an account; of those of events that bear their number, only later ones where one is given. */
export interface Flow {
  accountCode: string;
  flowId: string;
  afterSeq?: number;
}

/** Entries that depend on what the books hold. */
export interface LateEntries {
  /** Accounts that they surely name: opened where they are missing. */
  opens: readonly string[];
  /** Further ones that they may name. */
  accounts: readonly string[];
  schedules: readonly string[];
  flows: readonly Flow[];
  sources: readonly Source[];
  /** Null: there is nothing to book; schedules are written all the same. */
  build(facts: Facts): { source?: Source; metadata?: Record<string, unknown>; entries: EntryDraft[]; schedules: Schedule[] };
}

/** A transaction that is asked for. */
export interface Posting {
  kind: LedgerTransactionKind;
  source: Source;
  ruleVersion: number | null;
  description: string;
  userId: string | null;
  /** Null: now. */
  effectiveAt: Date | null;
  expiresAt: Date | null;
  metadata: Record<string, unknown>;
  entries: readonly EntryDraft[];
  late: LateEntries | null;
  /** It has happened elsewhere: no floor stops it, and in a closed period it is booked on the first open instant. */
  isFact: boolean;
  /** The pending transaction that it resolves. */
  resolves: {
    pendingId: string;
    outcome: 'posted' | 'voided' | 'expired';
    reserved: readonly EntryDraft[];
    source: Source;
    expiresAt: Date;
  } | null;
  reverses: { id: string; source: Source; reasonCode: string } | null;
  /** Of the request; another one under the same source is refused. Null: not compared. */
  requestHash: Buffer | null;
  origin: Origin;
  /** Audited with the posting, by the engine. */
  audit: string | null;
}

export type PostOutcome =
  | { outcome: 'created'; id: string }
  /** The same source was posted before. */
  | { outcome: 'exists'; id: string }
  | { outcome: 'rejected'; problem: Problem }
  /** There was nothing to book. */
  | { outcome: 'nothing' };

/** What writes the books: PostgreSQL here. */
export interface LedgerEngine {
  /**
   * Books postings with those of others in one commit; each is judged on its own, or all of them together.
   * @throws Problem unavailable where the database cannot be reached; nothing is booked then.
   */
  post(postings: readonly Posting[], options?: { atomic?: boolean }): Promise<PostOutcome[]>;
}
