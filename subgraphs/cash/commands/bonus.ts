import type { DataOf } from '../../../events/define.js';
import type { membershipBonusEligible } from '../../../events/catalogue/membership.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { CashSource } from '../entities/enums.js';
import { CashGrant } from '../entities/grant.js';
import { defaultEnd, MOST_UNITS } from '../rules/grants.js';
import { openBook } from './book.js';
import { give, grantFor, revokeAll, type Origin } from './grant.js';

type Bonus = DataOf<typeof membershipBonusEligible>;

/** Gives a bonus once for each membership, rule and period. One without an amount, or beyond what a grant may be, gives nothing. */
export async function grantBonus(ctx: Context, userId: string, bonus: Bonus): Promise<void> {
  const { cash_amount: units, currency, expires_days: days, revoke_on_lapse: revokeOnLapse } = bonus;
  if (units < 1 || units > MOST_UNITS) return;
  const referenceKey = `${bonus.bonus_key}:${bonus.period_key}`;
  const origin: Origin = { userId, referenceType: 'membership', referenceId: bonus.membership_id, referenceKey };
  const book = await openBook(ctx, userId, currency);
  const source = CashSource.BONUS;
  if (await grantFor(ctx, origin, { source, currency })) return;
  const expiresAt = days === null ? defaultEnd(source, book.now) : after(book.now, days * DAY_MS);
  const free = { minSubtotal: null, subjectKinds: [], maxShareBps: 10_000 };
  give(ctx, book, origin, { source, units, currency, reason: null, activatesAt: book.now, expiresAt, ...free, revokeOnLapse });
}

/** Takes back the bonuses of a membership whose rule says so. */
export async function revokeBonuses(ctx: Context, userId: string, membershipId: string): Promise<void> {
  const reference = { referenceType: 'membership', referenceId: membershipId };
  const grants = await ctx.em.find(CashGrant, { userId, source: CashSource.BONUS, revokeOnLapse: true, ...reference });
  await revokeAll(ctx, userId, grants, { type: 'membership', id: membershipId });
}
