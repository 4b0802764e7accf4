import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { FactKind } from '../entities/enums.js';
import { MembershipFact } from '../entities/fact.js';
import type { Fact, FactData } from '../rules/facts.js';

const ONE_AT_A_TIME = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
const lockOf = (userId: string): string => `membership.member ${userId}`;

/** Whoever changes a member holds this lock to the end of the transaction. Several are locked in the order of their ids. */
export const lockMember = (ctx: Context, userId: string): Promise<unknown> => ctx.sql(ONE_AT_A_TIME, [lockOf(userId)]);

export interface Told<Kind extends `${FactKind}` = `${FactKind}`> {
  /** Of the event; a repetition is recorded once. */
  id: string;
  kind: Kind;
  userId: string;
  /** Null: known by the subscription. */
  brandId?: string | null;
  /** Subscription, or order. */
  subjectId?: string | null;
  /** RFC 3339. */
  occurredAt: string;
  seq: number;
  data: FactData[Kind];
}

const RECORD = `
  insert into membership.membership_fact (id, user_id, brand_id, kind, subject_id, occurred_at, seq, recorded_at, data)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9 from pg_advisory_xact_lock(hashtextextended($10, 0)) on conflict (id) do nothing returning 1 as recorded`;

/** Keeps a fact, under the member's lock. What is read after it knows the facts of all who had the lock before. @returns whether it is new. */
export async function record<Kind extends `${FactKind}`>(ctx: Context, told: Told<Kind>): Promise<boolean> {
  const { id, userId, brandId = null, kind, subjectId = null, occurredAt, seq, data } = told;
  const rows = await ctx.sql(RECORD, [
    id,
    userId,
    brandId,
    kind,
    subjectId,
    occurredAt,
    seq,
    ctx.now().toISOString(),
    JSON.stringify(data),
    lockOf(userId),
  ]);
  return rows.length > 0;
}

/** Ours comes after everything that is known of the member, although services have clocks of their own. */
const LATEST = `
  select (extract(epoch from greatest($2::timestamptz, max(occurred_at))) * 1000)::float8 as ms, coalesce(max(seq), 0)::text as seq
  from membership.membership_fact where user_id = $1`;

/** Keeps what staff or the member decided here, now. @returns its id. */
export async function recordOwn<Kind extends `${FactKind}`>(
  ctx: Context,
  userId: string,
  told: Pick<Told<Kind>, 'kind' | 'brandId' | 'subjectId' | 'data'>,
): Promise<string> {
  const [latest] = await ctx.sql<{ ms: number; seq: string }>(LATEST, [userId, ctx.now().toISOString()]);
  const id = newId();
  await record<Kind>(ctx, { ...told, id, userId, occurredAt: new Date(Math.round(latest!.ms)).toISOString(), seq: Number(latest!.seq) });
  return id;
}

/** Everything that decides a member's state; orders only count. */
export async function factsOf(ctx: Context, userId: string): Promise<MembershipFact[]> {
  return ctx.em.find(MembershipFact, { userId, kind: { $ne: FactKind.ORDERED } }, { orderBy: { occurredAt: 'asc' }, refresh: true });
}

export const asFacts = (rows: readonly MembershipFact[]): Fact[] => rows as unknown as Fact[];
