import { prepared } from '../../../../events/prepared.js';
import { newId } from '../../../../runtime/data/ids.js';
import type { Context } from '../../../../runtime/request/context.js';
import type { BookedEntry } from '../../rules/book.js';
import { contentHash } from '../../rules/canonical.js';
import { LedgerTransactionKind } from '../../entities/enums.js';
import type { Posting } from '../ledger-engine.js';

/** A posting that was accepted, with everything that its rows need. */
export interface Booked {
  id: string;
  posting: Posting;
  effectiveAt: Date;
  postedAt: Date;
  entries: readonly BookedEntry[];
}

/** Another process has booked one of these sources meanwhile: the batch is judged anew. */
export class SourceRace extends Error {}

const TRANSACTIONS = prepared(`
insert into accounting.ledger_transaction (id, kind, source_service, source_type, source_id, rule_version, description, user_id, effective_at,
  posted_at, expires_at, pending_id, reverses, metadata, content_hash, request_hash)
select n.id, n.kind, n.service, n.type, n.source_id, n.rule_version, n.description, n.user_id, n.effective_at, $9::timestamptz, n.expires_at,
  n.pending_id, n.reverses, n.metadata::jsonb, decode(n.content_hash, 'hex'), decode(n.request_hash, 'hex')
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::uuid[], $10::timestamptz[], $11::timestamptz[],
  $12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::text[])
  n(id, kind, service, type, source_id, rule_version, description, user_id, effective_at, expires_at, pending_id, reverses, metadata,
    content_hash, request_hash)
on conflict do nothing returning id`);

const hashOf = ({ id, posting, effectiveAt, entries }: Booked): string =>
  contentHash({
    id,
    kind: posting.kind,
    source: { ...posting.source, ruleVersion: posting.ruleVersion },
    entries,
    effectiveAt,
    pendingId: posting.resolves?.pendingId ?? null,
    reverses: posting.reverses?.id ?? null,
    metadata: posting.metadata,
  }).toString('hex');

async function storeTransactions(ctx: Context, booked: readonly Booked[]): Promise<void> {
  const postings = booked.map(one => one.posting);
  const inserted = await ctx.sql(TRANSACTIONS, [
    booked.map(one => one.id),
    postings.map(one => one.kind),
    postings.map(one => one.source.service),
    postings.map(one => one.source.type),
    postings.map(one => one.source.id),
    postings.map(one => one.ruleVersion),
    postings.map(one => one.description),
    postings.map(one => one.userId),
    booked[0]!.postedAt.toISOString(),
    booked.map(one => one.effectiveAt.toISOString()),
    postings.map(one => one.expiresAt?.toISOString() ?? null),
    postings.map(one => one.resolves?.pendingId ?? null),
    postings.map(one => one.reverses?.id ?? null),
    postings.map(one => JSON.stringify(one.metadata)),
    booked.map(hashOf),
    postings.map(one => one.requestHash?.toString('hex') ?? null),
  ]);
  if (inserted.length < booked.length) throw new SourceRace();
}

const ENTRIES = prepared(`
insert into accounting.ledger_entry (transaction_id, line, id, account_id, direction, amount, currency, posted, balance_after, account_version,
  effective_at, posted_at, flow_id)
select n.transaction_id, n.line, n.id, n.account_id, n.direction, n.amount, n.currency, n.version is not null, n.balance, n.version, n.effective_at,
  $11::timestamptz, n.flow_id
from unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::timestamptz[],
  $12::text[]) n(transaction_id, line, id, account_id, direction, amount, currency, balance, version, effective_at, flow_id)`);

async function storeEntries(ctx: Context, booked: readonly Booked[]): Promise<void> {
  const lines = booked.flatMap(({ id, effectiveAt, entries }) => entries.map((entry, at) => ({ ...entry, id, at: at + 1, effectiveAt })));
  await ctx.sql(ENTRIES, [
    lines.map(one => one.id),
    lines.map(one => one.at),
    lines.map(newId),
    lines.map(one => one.accountId),
    lines.map(one => one.direction),
    lines.map(one => one.amount),
    lines.map(one => one.currency),
    lines.map(one => one.balanceAfter),
    lines.map(one => one.accountVersion),
    lines.map(one => one.effectiveAt.toISOString()),
    booked[0]!.postedAt.toISOString(),
    lines.map(one => one.flowId ?? null),
  ]);
}

const RESOLUTIONS = `
with resolved as (
  insert into accounting.pending_resolution (pending_id, transaction_id, outcome, at)
  select n.pending_id, n.id, n.outcome, $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::text[]) n(pending_id, id, outcome) returning pending_id)
delete from accounting.pending_expiry where transaction_id in (select pending_id from resolved)`;

async function storeResolutions(ctx: Context, booked: readonly Booked[]): Promise<void> {
  const found = booked.filter(one => one.posting.resolves !== null);
  if (found.length === 0) return;
  const ids = [
    found.map(one => one.posting.resolves!.pendingId),
    found.map(one => one.id),
    found.map(one => one.posting.resolves!.outcome),
  ];
  await ctx.sql(RESOLUTIONS, [...ids, found[0]!.postedAt.toISOString()]);
}

async function storeExpiries(ctx: Context, booked: readonly Booked[]): Promise<void> {
  const found = booked.filter(one => one.posting.kind === LedgerTransactionKind.PENDING);
  if (found.length === 0) return;
  await ctx.sql('insert into accounting.pending_expiry (transaction_id, expires_at) select * from unnest($1::uuid[], $2::timestamptz[])', [
    found.map(one => one.id),
    found.map(one => one.posting.expiresAt!.toISOString()),
  ]);
}

/** Writes what was booked: a statement for each table. @throws SourceRace */
export async function storeBooked(ctx: Context, booked: readonly Booked[]): Promise<void> {
  if (booked.length === 0) return;
  await storeTransactions(ctx, booked);
  await storeEntries(ctx, booked);
  await storeResolutions(ctx, booked);
  await storeExpiries(ctx, booked);
}
