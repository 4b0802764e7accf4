import type { Sql } from '../../../events/outbox.js';
import { prepared } from '../../../events/prepared.js';
import type { Outcome } from '../ports/deliverer.js';
import { opens, PROBE_MS, remember, retryAfter, userTag, type Failure } from '../rules/holding-back.js';

/** What the health of a subscription needs to know of an attempt that ended. */
export interface HealthEvent {
  subscriptionId: string;
  userId: string;
  endedAt: Date;
  outcome: Pick<Outcome, 'error' | 'responseHeaders'>;
  /** First attempt of a delivery that ends in the dead letters with status 410; null otherwise. */
  goneSince: Date | null;
}

interface HealthRow {
  failing_since: Date | null;
  failed_attempts: number;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  opened_at: Date | null;
  held_until: Date | null;
  gone_since: Date | null;
  /** Since the last success, the newest last. */
  recent_failures: readonly Failure[];
}

const NOTHING: HealthRow = {
  failing_since: null,
  failed_attempts: 0,
  last_success_at: null,
  last_failure_at: null,
  opened_at: null,
  held_until: null,
  gone_since: null,
  recent_failures: [],
};

/**
 * One row per subscription, added to what is stored. A success closes the circuit and ends every wait; an open circuit stays as it
 * is under further failures, a half-open one is open again. Prepared, so only for a transaction that `BY_KEY` of the recorder has
 * set: a plan made while the table is empty would stay one that reads all of it. Source: section 3, circuit.
 */
const HEALTH = prepared(`
insert into webhooks.webhook_health as h (subscription_id, failing_since, failed_attempts, last_success_at, last_failure_at, circuit_state, circuit_since, firsts_held_until, gone_at, recent_failures)
select subscription_id, failing_since, failed_attempts, last_success_at, last_failure_at, case when opened_at is null then 'closed' else 'open' end, opened_at,
  greatest(held_until, opened_at + $2 * interval '1 millisecond'), case when gone_since is not null then last_failure_at end, recent_failures
from json_to_recordset($1::json) as r(subscription_id uuid, failing_since timestamptz, failed_attempts int, last_success_at timestamptz, last_failure_at timestamptz,
  opened_at timestamptz, held_until timestamptz, gone_since timestamptz, recent_failures jsonb)
order by subscription_id
on conflict (subscription_id) do update set
  failing_since = case when excluded.last_success_at is not null then excluded.failing_since else coalesce(h.failing_since, excluded.failing_since) end,
  failed_attempts = case when excluded.last_success_at is not null then excluded.failed_attempts else h.failed_attempts + excluded.failed_attempts end,
  last_success_at = greatest(h.last_success_at, excluded.last_success_at), last_failure_at = greatest(h.last_failure_at, excluded.last_failure_at),
  circuit_state = case when excluded.circuit_state = 'open' then 'open' when excluded.last_success_at is not null then 'closed' when h.circuit_state = 'half_open' then 'open' else h.circuit_state end,
  circuit_since = case
    when excluded.circuit_state = 'open' and h.circuit_state = 'closed' then excluded.circuit_since
    when excluded.circuit_state = 'closed' and excluded.last_success_at is not null and h.circuit_state <> 'closed' then excluded.last_success_at
    else h.circuit_since end,
  firsts_held_until = case
    when excluded.last_success_at is not null or (excluded.circuit_state = 'open' and h.circuit_state = 'closed') then excluded.firsts_held_until
    when h.circuit_state <> 'closed' then h.firsts_held_until
    else greatest(h.firsts_held_until, excluded.firsts_held_until) end,
  gone_at = case when excluded.last_success_at is not null then null else coalesce(excluded.gone_at, h.gone_at) end,
  recent_failures = excluded.recent_failures`);

/** In the order of `HEALTH`, so that two workers that share a subscription do not wait for each other. */
const RECENT = `
select subscription_id, recent_failures from webhooks.webhook_health where subscription_id = any($1::uuid[]) order by subscription_id for update`;

const LIMITED = `
insert into webhooks.webhook_health (subscription_id, limited_until) select id, clock_timestamp() + $2 * interval '1 millisecond' from unnest($1::uuid[]) id order by id
on conflict (subscription_id) do update set limited_until = excluded.limited_until`;

/** A limit that is held is noted again so often, and each note stands for a little longer, ms. */
const LIMIT_NOTE_MS = 1_000;
const LIMIT_STANDS_MS = 1_500;

/** Notes which subscriptions a worker holds back for their rate limit: once a second each, for the API. */
export class LimitNotes {
  readonly #notedAt = new Map<string, number>();

  async write(sql: Sql, limited: readonly string[]): Promise<void> {
    const now = performance.now();
    const due = limited.filter(id => now - (this.#notedAt.get(id) ?? -Infinity) >= LIMIT_NOTE_MS);
    if (due.length === 0) return;
    await sql(LIMITED, [due, LIMIT_STANDS_MS]);
    for (const [id, at] of this.#notedAt) if (now - at >= LIMIT_NOTE_MS) this.#notedAt.delete(id);
    due.forEach(id => this.#notedAt.set(id, now));
  }
}

const PROBE = `
update webhooks.webhook_health set circuit_state = 'half_open', firsts_held_until = $3::timestamptz + $4 * interval '1 millisecond'
where subscription_id = $1 and circuit_state <> 'closed' and firsts_held_until <= $2 returning 1`;

/** One lane of a subscription whose circuit is open may try; whoever gets the row has the probe, and the next is due in 30 s. */
export async function takeProbe(sql: Sql, subscriptionId: string, now: Date): Promise<boolean> {
  const at = now.toISOString();
  return (await sql(PROBE, [subscriptionId, at, at, PROBE_MS])).length > 0;
}

/** The failures in a row of the batch's subscriptions, whichever worker saw them; nobody asks where all succeeded. */
async function recentOf(sql: Sql, batch: readonly HealthEvent[]): Promise<Map<string, readonly Failure[]>> {
  if (batch.every(({ outcome }) => outcome.error === null)) return new Map();
  const ids = [...new Set(batch.map(({ subscriptionId }) => subscriptionId))];
  const rows = await sql<{ subscription_id: string; recent_failures: Failure[] }>(RECENT, [ids]);
  return new Map(rows.map(row => [row.subscription_id, row.recent_failures]));
}

/** Writes what a batch shows of its subscriptions, in the order in which its attempts ended. */
export async function writeHealth(sql: Sql, batch: readonly HealthEvent[]): Promise<void> {
  const recent = await recentOf(sql, batch);
  const rows = new Map<string, HealthRow>();
  for (const event of [...batch].sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime())) {
    const row = rows.get(event.subscriptionId) ?? { ...NOTHING, recent_failures: recent.get(event.subscriptionId) ?? [] };
    rows.set(event.subscriptionId, event.outcome.error === null ? { ...NOTHING, last_success_at: event.endedAt } : failed(event, row));
  }
  await sql(HEALTH, [JSON.stringify([...rows].map(([subscription_id, row]) => ({ subscription_id, ...row }))), PROBE_MS]);
}

function failed({ userId, endedAt, outcome, goneSince }: HealthEvent, row: HealthRow): HealthRow {
  const at = endedAt.getTime();
  const failures = remember(row.recent_failures, { at, user: userTag(userId) });
  const asked = retryAfter(outcome.responseHeaders?.['retry-after'], at);
  return {
    ...row,
    failing_since: row.failing_since ?? endedAt,
    failed_attempts: row.failed_attempts + 1,
    last_failure_at: endedAt,
    opened_at: row.opened_at ?? (opens(failures) ? endedAt : null),
    held_until: asked === null ? row.held_until : new Date(Math.max(asked, row.held_until?.getTime() ?? 0)),
    gone_since: row.gone_since ?? (goneSince !== null && (row.last_success_at ?? new Date(0)) < goneSince ? goneSince : null),
    recent_failures: failures,
  };
}
