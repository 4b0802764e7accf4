import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { earliestOf } from '../../../runtime/time/due.js';
import type { CashExpiryRun } from '../entities/balance.js';
import type { ExpireCashInput } from '../inputs/grant.js';
import { sumOf } from '../rules/lots.js';
import { openBook } from './book.js';

/** Whatever time changes by itself, with the instant at which it does. */
const CHANGES = `
select user_id, currency, activates_at as at from cash.cash_grant where status = 'scheduled'
union all select user_id, currency, expires_at from cash.cash_grant where status = 'active' and expires_at is not null
union all select user_id, currency, expires_at from cash.cash_reservation where status = 'held'`;

const DUE = `select user_id, currency from (select * from (${CHANGES}) change where at <= $1 order by at limit $2) due group by 1, 2 order by 1, 2`;

/** Accounts that one statement finds. */
const CHUNK = 500;

interface Account {
  user_id: string;
  currency: string;
}

const dueAt = (ctx: Context, at: Date, limit: number): Promise<Account[]> => ctx.sql<Account>(DUE, [at.toISOString(), limit]);

/** The earliest instant at which a sweep has something to write; null: nothing waits. */
export const earliestChange = (ctx: Context): Promise<Date | null> => earliestOf(ctx, CHANGES);

interface Expired {
  currency: string;
  units: number[];
}

/** Writes what time has done to one account, in a transaction of its own; what it finds is decided in the account's lock. */
async function settleAccount(ctx: Context, { user_id: userId, currency }: Account, at: Date): Promise<Expired> {
  return ctx.host.transaction(async own => {
    const { expired } = await openBook(own, userId, currency, at);
    if (expired.length > 0) own.audit('cash_account.expired', userId, { currency, grants: expired.length });
    return { currency, units: expired };
  });
}

/** Writes what was due at an instant, account by account, until nothing is due. An account that fails does not keep the others back. */
export async function sweep(ctx: Context, at: Date): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const due = (await ctx.host.read(own => dueAt(own, at, CHUNK + failed.size))).filter(
      one => !failed.has(`${one.user_id} ${one.currency}`),
    );
    if (due.length === 0) return;
    for (const account of due)
      await settleAccount(ctx, account, at).catch(error => {
        failed.add(`${account.user_id} ${account.currency}`);
        ctx.log.error({ err: error instanceof Error ? error.name : 'error' }, 'cash of an account could not be expired; it is tried again');
      });
  }
}

const COUNT = `
select currency, count(*)::int as grants, sum(remaining)::float8 as units from
  (select currency, remaining from cash.cash_grant where status = 'active' and expires_at <= $1 and remaining > 0 order by expires_at limit $2) due
group by 1 order by 1`;

async function wouldExpire(ctx: Context, at: Date, limit: number): Promise<CashExpiryRun> {
  const rows = await ctx.sql<{ currency: string; grants: number; units: number }>(COUNT, [at.toISOString(), limit]);
  return {
    expiredGrants: sumOf(rows, ({ grants }) => grants),
    amount: rows.map(({ currency, units }) => ({ amount: units, currency })),
  };
}

function runOf(done: readonly Expired[]): CashExpiryRun {
  const currencies = [...new Set(done.filter(({ units }) => units.length > 0).map(({ currency }) => currency))].sort();
  const unitsIn = (currency: string): number[] => done.filter(one => one.currency === currency).flatMap(({ units }) => units);
  return {
    expiredGrants: sumOf(done, ({ units }) => units.length),
    amount: currencies.map(currency => ({ amount: sumOf(unitsIn(currency), units => units), currency })),
  };
}

/** Expires what was due at an instant, without waiting for the sweep. @throws Problem invalid_request for an instant to come. */
export async function expireCash(ctx: Context, { asOf, dryRun, limit }: ExpireCashInput): Promise<CashExpiryRun> {
  const now = await ctx.host.read(async own => own.now());
  const at = asOf ?? now;
  if (at > now) invalid('/input/asOf', 'must not be in the future');
  if (dryRun) return ctx.host.read(own => wouldExpire(own, at, limit));
  const done: Expired[] = [];
  for (const account of await ctx.host.read(own => dueAt(own, at, limit))) done.push(await settleAccount(ctx, account, at));
  return runOf(done);
}
