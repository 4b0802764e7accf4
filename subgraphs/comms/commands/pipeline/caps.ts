import type { Context } from '../../../../runtime/request/context.js';
import type { CommsMessage } from '../../entities/message.js';
import { capOf, mostOf, type Cap } from '../../rules/policy.js';
import { topicOf } from '../../rules/topics.js';

const LATELY = `
select user_id, count(*) filter (where category = 'marketing' and created_at > $2)::int as marketing,
  count(*) filter (where channel = 'push' and topic <> 'safety' and category <> 'marketing' and created_at > $3)::int as push
from comms.message where user_id = any($1) and created_at > $2 and status in ('sending', 'sent', 'delivered', 'complained') group by user_id`;

const DAY_MS = 86_400_000;

interface Lately extends Record<Cap, number> {
  user_id: string;
}

const capFor = (message: CommsMessage): Cap | null =>
  message.isAuth || message.userId === null ? null : capOf(message.channel, topicOf(message.topic)!);

/** Whose caps some messages count against. */
const capped = (messages: readonly CommsMessage[]): string[] =>
  [...new Set(messages.flatMap(one => (capFor(one) === null ? [] : one.userId!)))].sort();

async function countedOf(ctx: Context, userIds: readonly string[]): Promise<Map<string, Lately>> {
  const now = ctx.now().getTime();
  const since = [7 * DAY_MS, DAY_MS].map(ms => new Date(now - ms).toISOString());
  const rows = userIds.length > 0 ? await ctx.sql<Lately>(LATELY, [userIds, ...since]) : [];
  return new Map(rows.map(row => [row.user_id, row]));
}

/** How many messages count against the cap of each. */
export async function latelyOf(ctx: Context, messages: readonly CommsMessage[]): Promise<(message: CommsMessage) => number> {
  const counted = await countedOf(ctx, capped(messages));
  return message => {
    const cap = capFor(message);
    return cap === null ? 0 : (counted.get(message.userId!)?.[cap] ?? 0);
  };
}

const LOCK = `
select pg_advisory_xact_lock(hashtextextended('comms-cap:' || person, 7)) from (select person from unnest($1::text[]) person order by person offset 0) p`;

/** What may still leave to people, who are locked: of several workers, and of several messages of one claim, each counts those before it. */
export class Room {
  readonly #taken = new Map<string, number>();

  private constructor(private readonly counted: ReadonlyMap<string, Lately>) {}

  static async locked(ctx: Context, messages: readonly CommsMessage[]): Promise<Room> {
    const userIds = capped(messages);
    if (userIds.length > 0) await ctx.sql(LOCK, [userIds]);
    return new Room(await countedOf(ctx, userIds));
  }

  /** @returns null where the message may leave, which counts; else how many have left lately. */
  take(message: CommsMessage): number | null {
    const cap = capFor(message);
    if (cap === null) return null;
    const key = `${cap} ${message.userId}`;
    const taken = this.#taken.get(key) ?? 0;
    const lately = (this.counted.get(message.userId!)?.[cap] ?? 0) + taken;
    if (lately >= mostOf(cap)) return lately;
    this.#taken.set(key, taken + 1);
    return null;
  }
}
