import type { Context } from '../../../runtime/request/context.js';
import type { FailureGroup } from '../entities/enums-operations.js';
import type { FailureCount } from '../entities/operations.js';
import type { CountedAttempts } from '../rules/failures.js';

interface Window {
  from: Date;
  to: Date;
}

const bounds = ({ from, to }: Window): string[] => [from.toISOString(), to.toISOString()];

/** Attempts that began in a window, and those of them that failed. */
export async function countAttempts(ctx: Context, window: Window): Promise<CountedAttempts> {
  const [row] = await ctx.sql<CountedAttempts>(
    `select count(*)::int as attempts, count(*) filter (where status = 'failed')::int as failures
     from payments.payment_attempt where started_at >= $1 and started_at < $2`,
    bounds(window),
  );
  return row!;
}

/** Columns that failures are counted by. */
const COLUMNS: Readonly<Record<FailureGroup, string>> = {
  decline_code: 'a.decline_code',
  processor: 'p.processor',
  card_brand: 'a.card_brand',
};

/** Failures of a window by what they have in common, the most frequent first; one statement for all keys. */
export async function countGroups(ctx: Context, window: Window, keys: readonly FailureGroup[]): Promise<FailureCount[]> {
  if (keys.length === 0) return [];
  const each = [...new Set(keys)].map(
    key => `select '${key}' as key, coalesce(${COLUMNS[key]}, 'unknown') as value, count(*)::int as failures from failed a
      join payments.payment p on p.id = a.payment_id group by 2`,
  );
  return ctx.sql<FailureCount>(
    `with failed as (select payment_id, decline_code, card_brand from payments.payment_attempt
       where status = 'failed' and started_at >= $1 and started_at < $2)
     select * from (${each.join(' union all ')}) groups order by key, failures desc, value limit 100`,
    bounds(window),
  );
}

export interface Unanswered {
  attemptId: string;
  paymentId: string;
  since: Date;
  attempts: number;
  nextLookAt: Date | null;
}

interface UnansweredRow extends Omit<Unanswered, 'since' | 'nextLookAt'> {
  since: number;
  next_look: number | null;
}

const UNANSWERED = `select a.id as "attemptId", a.payment_id as "paymentId", a.number as attempts,
    (extract(epoch from a.started_at) * 1000)::float8 as since, (extract(epoch from a.next_look_at) * 1000)::float8 as next_look
  from payments.payment_attempt a where a.status = 'unknown'
  union all
  select a.id, a.payment_id, a.number, (extract(epoch from p.capture_before) * 1000)::float8, null
  from payments.payment p join payments.payment_attempt a on a.payment_id = p.id and a.status = 'authorized'
  where p.status = 'authorized' and p.capture_before < $1
  order by since limit 100`;

/** Attempts whose outcome the processor has not told, and authorizations that were to be captured by now, longest first. */
export async function unansweredAttempts(ctx: Context): Promise<Unanswered[]> {
  const rows = await ctx.sql<UnansweredRow>(UNANSWERED, [ctx.now().toISOString()]);
  return rows.map(({ since, next_look, ...row }) => ({
    ...row,
    since: new Date(since),
    nextLookAt: next_look === null ? null : new Date(next_look),
  }));
}

/** How long the oldest call of the processor waits, seconds. */
export async function webhookLagSeconds(ctx: Context): Promise<number> {
  const [row] = await ctx.sql<{ lag: number }>(
    `select coalesce(floor(extract(epoch from $1::timestamptz - min(received_at))), 0)::int as lag
     from payments.processor_event where status in ('received', 'failed') and next_attempt_at is not null`,
    [ctx.now().toISOString()],
  );
  return Math.max(0, row!.lag);
}
