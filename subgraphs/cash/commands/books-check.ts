import type { Context } from '../../../runtime/request/context.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { earliestOf } from '../../../runtime/time/due.js';
import { walletsOf } from '../ports/books.js';

/** Events of a change have drained by then. */
const QUIET_MS = 10 * MINUTE_MS;
const PAGE = 100;

const UNCHECKED = `
select user_id, currency, version, (granted - spent - expired - revoked)::float8 as total from cash.cash_account
where version <> checked_version and changed_at <= $1 and (user_id, currency) > ($2, $3) order by user_id, currency limit ${PAGE}`;
const CHECKED = 'update cash.cash_account set checked_version = $3 where user_id = $1 and currency = $2';

interface Unchecked {
  user_id: string;
  currency: string;
  version: number;
  total: number;
}

/** When an account has changed that was not compared since; null: none has. */
export const earliestUnchecked = (ctx: Context): Promise<Date | null> =>
  earliestOf(
    ctx,
    `select changed_at + interval '${QUIET_MS / MINUTE_MS} minutes' as at from cash.cash_account where version <> checked_version`,
  );

/** Tells finance of an account that differs; once for each of its versions. */
function alertDrift(ctx: Context, { user_id: userId, currency, version, total }: Unchecked, booked: number): void {
  const params = { currency, cash: total, books: booked };
  const dedupeKey = `cash_drift:${userId}:${currency}:${version}`;
  requestMessage(ctx, { staffRole: 'finance' }, { template: 'cash_drift', params, dedupeKey, subject: `cash_account:${userId}` });
  ctx.audit('cash_account.drifted', userId, params);
}

async function compare(ctx: Context, account: Unchecked, wallets: ReadonlyMap<string, number>): Promise<void> {
  const booked = wallets.get(account.currency) ?? 0;
  await ctx.host.transaction(async own => {
    await own.sql(CHECKED, [account.user_id, account.currency, account.version]);
    if (booked !== account.total) alertDrift(own, account, booked);
  });
}

/** Compares every account that has changed since the last time with its wallet in the books; while accounting is silent it does nothing. */
export async function checkBooks(ctx: Context): Promise<void> {
  const quietSince = after(ctx.now(), -QUIET_MS).toISOString();
  let behind = ['00000000-0000-0000-0000-000000000000', ''];
  for (;;) {
    const page = await ctx.host.read(own => own.sql<Unchecked>(UNCHECKED, [quietSince, ...behind]));
    for (const account of page) {
      const wallets = await walletsOf(ctx, account.user_id);
      if (wallets === null) return;
      await compare(ctx, account, wallets);
    }
    const last = page.at(-1);
    if (!last) return;
    behind = [last.user_id, last.currency];
  }
}
