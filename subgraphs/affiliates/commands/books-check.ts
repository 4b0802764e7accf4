import type { Context } from '../../../runtime/request/context.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { earliestOf } from '../../../runtime/time/due.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { Affiliate } from '../entities/affiliate.js';
import { earningsWallets } from '../ports/books.js';
import { earnedBy } from '../queries/figures.js';

/** Events of a change have drained by then. */
const QUIET_MINUTES = 10;

const UNCHECKED = `select id, user_id, changed_at from affiliates.affiliate where checked_at is null or checked_at < changed_at`;

/** When somebody's earnings have changed that were not compared since; null: nobody's have. */
export const earliestUnchecked = (ctx: Context): Promise<Date | null> =>
  earliestOf(ctx, `select changed_at + interval '${QUIET_MINUTES} minutes' as at from (${UNCHECKED}) unchecked`);

/** What the books should have of a user: of all programs together, by currency. A payout that is on its way is reserved there, not paid. */
async function expectedOf(ctx: Context, userId: string): Promise<Map<string, number>> {
  const own = await ctx.em.find(Affiliate, { userId });
  const sums = new Map<string, number>();
  for (const { currency, posted, paid } of await earnedBy(
    ctx,
    own.map(({ id }) => id),
  ))
    sums.set(currency, (sums.get(currency) ?? 0) + posted - paid);
  return sums;
}

async function compare(ctx: Context, userId: string, wallets: ReadonlyMap<string, number>): Promise<void> {
  await ctx.host.transaction(async own => {
    const expected = await expectedOf(own, userId);
    await own.sql('update affiliates.affiliate set checked_at = changed_at where user_id = $1', [userId]);
    for (const [currency, units] of expected) {
      const booked = wallets.get(currency) ?? 0;
      if (booked === units) continue;
      const params = { currency, affiliates: units, books: booked };
      const dedupeKey = `affiliates_drift:${userId}:${currency}:${units}:${booked}`;
      requestMessage(
        own,
        { staffRole: 'finance' },
        { template: 'affiliates_drift', params, dedupeKey, subject: `affiliate_user:${userId}` },
      );
      own.audit('affiliate.drifted', userId, params);
    }
  });
}

/** Compares what is owed with the books, once a day; while accounting is silent it does nothing. Source: affiliates 7.8. */
export async function checkBooks(ctx: Context): Promise<void> {
  const quietSince = after(ctx.now(), -QUIET_MINUTES * MINUTE_MS).toISOString();
  const users = await ctx.host.read(own =>
    own.sql<{ user_id: string }>(`select distinct user_id from (${UNCHECKED}) unchecked where changed_at <= $1 order by 1`, [quietSince]),
  );
  for (const { user_id: userId } of users) {
    const wallets = await earningsWallets(ctx.host, userId);
    if (wallets === null) return;
    await compare(ctx, userId, wallets);
  }
}
