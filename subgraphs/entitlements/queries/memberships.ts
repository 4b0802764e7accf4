import type { Context } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { askMemberships, type Asked } from '../ports/membership.js';
import { FRESH_MS, memoryOf } from '../ports/memory.js';
import type { MembershipFacts } from '../rules/tier.js';

/** A copy this old is served while membership is not there, no older one. Source: entitlements 7.5. */
const STALE_MS = 15 * MINUTE_MS;
/** Users that are asked for at once. */
const AT_ONCE = 100;

/** What is known of a user; `memberships` null: nothing, because membership is not there and nothing recent is kept. */
export interface Known {
  memberships: readonly MembershipFacts[] | null;
  /** It is what was known before: membership is not there. */
  isFallback: boolean;
}

const READ = `
  select user_id, memberships, (extract(epoch from asked_at) * 1000)::float8 as ms from entitlements.membership_copy where user_id = any($1)`;

/** What was asked for earlier, and came later, replaces nothing. Source: entitlements 7.3. */
const KEEP = `
  insert into entitlements.membership_copy as c (user_id, memberships, versions, asked_at)
  select r.user_id, r.memberships, r.versions, $2 from jsonb_to_recordset($1::jsonb) as r (user_id uuid, memberships jsonb, versions bigint)
  order by r.user_id
  on conflict (user_id) do update set memberships = excluded.memberships, versions = excluded.versions, asked_at = greatest(c.asked_at, excluded.asked_at)
    where excluded.versions >= c.versions
  returning user_id`;

type Copied = Omit<MembershipFacts, 'startedAt' | 'periodStart' | 'periodEnd'> & {
  startedAt: string;
  periodStart: string | null;
  periodEnd: string | null;
};

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
const revived = (one: Copied): MembershipFacts => ({
  ...one,
  startedAt: new Date(one.startedAt),
  periodStart: dateOf(one.periodStart),
  periodEnd: dateOf(one.periodEnd),
});

interface Copy {
  memberships: MembershipFacts[];
  askedAt: number;
}

async function copiesOf(ctx: Context, userIds: readonly string[]): Promise<Map<string, Copy>> {
  if (userIds.length === 0) return new Map();
  const rows = await ctx.sql<{ user_id: string; memberships: Copied[]; ms: number }>(READ, [[...userIds]]);
  return new Map(rows.map(row => [row.user_id, { memberships: row.memberships.map(revived), askedAt: Math.round(row.ms) }]));
}

/** Keeps what was asked for; what is older than what is there changes nothing. */
export async function keepCopies(ctx: Context, asked: ReadonlyMap<string, Asked>, at: Date): Promise<void> {
  const rows = [...asked].map(([user_id, { memberships, versions }]) => ({ user_id, memberships, versions }));
  if (rows.length) await ctx.sql(KEEP, [JSON.stringify(rows), at.toISOString()]);
}

async function ask(ctx: Context, userIds: readonly string[]): Promise<Map<string, Asked> | null> {
  try {
    const found = new Map<string, Asked>();
    for (let begin = 0; begin < userIds.length; begin += AT_ONCE)
      for (const [userId, asked] of await askMemberships(ctx, userIds.slice(begin, begin + AT_ONCE))) found.set(userId, asked);
    return found;
  } catch (error) {
    ctx.log.warn({ err: loggedError(error) }, 'membership could not be asked; what is known is served');
    return null;
  }
}

/** Waits of one user for one question. */
const flights = new WeakMap<object, Map<string, Promise<Known>>>();

async function knownAnew(ctx: Context, userIds: readonly string[]): Promise<Map<string, Known>> {
  const [memory, now] = [memoryOf(ctx.host), ctx.now()];
  const mark = memory.mark();
  const copies = await copiesOf(ctx, userIds);
  const isFresh = (id: string): boolean => now.getTime() - (copies.get(id)?.askedAt ?? -Infinity) < FRESH_MS;
  const open = userIds.filter(id => !isFresh(id));
  const asked = open.length && !ctx.inTransaction ? await ask(ctx, open) : null;
  if (asked) await keepCopies(ctx, asked, now);
  const found = new Map<string, Known>();
  for (const id of userIds) {
    const copy = copies.get(id);
    const told = isFresh(id) ? copy : asked?.get(id);
    if (told) memory.keepMemberships(id, told.memberships, isFresh(id) ? copy!.askedAt : now.getTime(), mark);
    const recent = copy && now.getTime() - copy.askedAt <= STALE_MS ? copy.memberships : null;
    if (!told) memory.staleServed++;
    found.set(id, told ? { memberships: told.memberships, isFallback: false } : { memberships: recent, isFallback: true });
  }
  return found;
}

/** The memberships of some users: remembered for 30 s, then as membership says, else as they were known within 15 minutes. */
export async function membershipsOf(ctx: Context, userIds: readonly string[]): Promise<Map<string, Known>> {
  const [memory, now] = [memoryOf(ctx.host), ctx.now().getTime()];
  const found = new Map<string, Known>();
  for (const id of userIds) {
    const memberships = memory.memberships(id, now);
    if (memberships) found.set(id, { memberships, isFallback: false });
  }
  const missing = userIds.filter(id => !found.has(id));
  if (missing.length === 1 && !ctx.inTransaction) found.set(missing[0]!, await oneAtATime(ctx, missing[0]!));
  else if (missing.length) for (const [id, known] of await knownAnew(ctx, missing)) found.set(id, known);
  return found;
}

/** Of readers of one user at once, one asks. */
function oneAtATime(ctx: Context, userId: string): Promise<Known> {
  const own = flights.get(ctx.host) ?? new Map<string, Promise<Known>>();
  flights.set(ctx.host, own);
  let flight = own.get(userId);
  if (!flight) {
    flight = knownAnew(ctx, [userId]).then(found => found.get(userId)!);
    own.set(userId, flight);
    void flight.finally(() => own.delete(userId)).catch(() => undefined);
  }
  return flight;
}
