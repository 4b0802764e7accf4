import { prepared } from '../../../../events/prepared.js';
import type { Context } from '../../../../runtime/request/context.js';
import { EntryDirection } from '../../entities/enums.js';
import type { EntryDraft } from '../../rules/entries.js';
import { sourceKey, type Facts, type Flow, type Source } from '../ledger-engine.js';

/** A transaction that is there, as a repeat or a later fact needs it. */
export interface Known {
  id: string;
  requestHash: Buffer | null;
  metadata: Record<string, unknown>;
}

const SOURCES = prepared(`
select t.id, t.source_service as service, t.source_type as type, t.source_id, t.request_hash, t.metadata
from unnest($1::text[], $2::text[], $3::text[]) s(service, type, id)
join accounting.ledger_transaction t on (t.source_service, t.source_type, t.source_id) = (s.service, s.type, s.id)`);

interface KnownRow {
  id: string;
  service: string;
  type: string;
  source_id: string;
  request_hash: Buffer | null;
  metadata: Record<string, unknown>;
}

/** Transactions by source. */
export async function knownSources(ctx: Context, sources: readonly Source[]): Promise<Map<string, Known>> {
  const columns = (['service', 'type', 'id'] as const).map(name => sources.map(one => one[name]));
  const rows = await ctx.sql<KnownRow>(SOURCES, columns);
  return new Map(
    rows.map(row => [
      sourceKey({ service: row.service, type: row.type, id: row.source_id }),
      { id: row.id, requestHash: row.request_hash, metadata: row.metadata },
    ]),
  );
}

interface EntryRow {
  transaction_id: string;
  code: string;
  direction: EntryDirection;
  amount: string;
  currency: string;
  flow_id: string | null;
}

const ENTRIES = `
select e.transaction_id, a.code, e.direction, e.amount, e.currency, e.flow_id
from accounting.ledger_entry e join accounting.ledger_account a on a.id = e.account_id
where e.transaction_id = any($1::uuid[]) order by e.transaction_id, e.line`;

/** Entries of transactions as they were asked for, by transaction. */
export async function draftsOf(ctx: Context, ids: readonly string[]): Promise<Map<string, EntryDraft[]>> {
  const found = new Map<string, EntryDraft[]>(ids.map(id => [id, []]));
  if (ids.length === 0) return found;
  for (const row of await ctx.sql<EntryRow>(ENTRIES, [ids]))
    found.get(row.transaction_id)!.push({
      accountCode: row.code,
      direction: row.direction,
      amount: Number(row.amount),
      currency: row.currency,
      flowId: row.flow_id,
    });
  return found;
}

const FLOWS = `
select f.code, f.flow_id, sum(case when e.direction = a.normal_side then e.amount else - e.amount end) as net
from unnest($1::text[], $2::text[], $3::bigint[]) f(code, flow_id, after_seq) join accounting.ledger_account a on a.code = f.code
join accounting.ledger_entry e on e.account_id = a.id and e.flow_id = f.flow_id and e.posted
left join accounting.ledger_transaction t on f.after_seq is not null and t.id = e.transaction_id
where f.after_seq is null or (t.metadata->>'event_seq')::bigint > f.after_seq
group by f.code, f.flow_id`;

async function flowSums(ctx: Context, flows: readonly Flow[]): Promise<Map<string, number>> {
  if (flows.length === 0) return new Map();
  const params = [flows.map(one => one.accountCode), flows.map(one => one.flowId), flows.map(one => one.afterSeq ?? null)];
  const rows = await ctx.sql<{ code: string; flow_id: string; net: string }>(FLOWS, params);
  return new Map(rows.map(row => [`${row.code}\n${row.flow_id}`, Number(row.net)]));
}

/** Facts without the schedules, which the batch keeps. */
export async function readFacts(
  ctx: Context,
  known: ReadonlyMap<string, Known>,
  asked: { sources: readonly Source[]; flows: readonly Flow[] },
): Promise<Omit<Facts, 'schedule' | 'now'>> {
  const found = asked.sources.flatMap(source => known.get(sourceKey(source)) ?? []);
  const entries = await draftsOf(
    ctx,
    found.map(one => one.id),
  );
  const sums = await flowSums(ctx, asked.flows);
  return {
    flow: (code, flowId) => sums.get(`${code}\n${flowId}`) ?? 0,
    transaction: source => {
      const one = known.get(sourceKey(source));
      return one ? { id: one.id, metadata: one.metadata, entries: entries.get(one.id) ?? [] } : null;
    },
  };
}

const RESOLVED = `
select pending_id as id, outcome as what from accounting.pending_resolution where pending_id = any($1::uuid[])
union all select reverses, 'reversed' from accounting.ledger_transaction where reverses = any($1::uuid[])`;

/** What has become of pending transactions, and which were reversed. */
export async function resolvedOf(ctx: Context, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.sql<{ id: string; what: string }>(RESOLVED, [ids]);
  return new Map(rows.map(({ id, what }) => [id, what]));
}
