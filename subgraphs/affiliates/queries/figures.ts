import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { statusOf, type Standing } from '../rules/commission.js';
import type { CommissionStatus } from '../entities/enums.js';

/** What follows from the rows beside a commission `c`. */
export const REVERSED = 'coalesce((select sum(r.amount) from affiliates.commission_reversal r where r.commission_id = c.id), 0)';
const BY_REFUNDS = `coalesce((select sum(r.amount) from affiliates.commission_reversal r where r.commission_id = c.id and r.cause in ('refund', 'refund_failed')), 0)`;
const MARKED = (kind: string): string =>
  `exists (select 1 from affiliates.commission_mark m where m.commission_id = c.id and m.kind = '${kind}')`;
export const IS_HELD = `(c.held_reason is not null and not ${MARKED('released')})`;
export const IS_POSTED = MARKED('posted');
const IN_PAYOUT = (statuses: string): string =>
  `exists (select 1 from affiliates.payout_commission pc join affiliates.affiliate_payout p on p.id = pc.payout_id where pc.commission_id = c.id and p.status in (${statuses}))`;
export const IS_PAID = IN_PAYOUT(`'paid'`);
export const IS_IN_PAYOUT = IN_PAYOUT(`'requested', 'in_flight', 'paid'`);
export const IS_DISPUTED = `exists (select 1 from affiliates.obligation_dispute d
  where d.obligation_type = c.obligation_type and d.obligation_id = c.obligation_id and d.outcome is null)`;

const FIGURES = `
select c.id, c.amount::float8 as amount, ${REVERSED}::float8 as reversed, ${BY_REFUNDS}::float8 as "byRefunds", ${IS_HELD} as "isHeld",
  ${IS_POSTED} as "isPosted", ${IS_PAID} as "isPaid" from affiliates.commission c where c.id = any($1::uuid[])`;

/** Where a commission stands, minor units. */
export interface Figures extends Standing {
  id: string;
  reversed: number;
  byRefunds: number;
  status: CommissionStatus;
}

interface Row extends Omit<Figures, 'net' | 'status'> {
  amount: number;
}

/** Where commissions stand, in the order of their ids. */
export async function figuresOf(ctx: Context, ids: readonly string[]): Promise<(Figures | null)[]> {
  const rows = await ctx.sql<Row>(FIGURES, [[...ids]]);
  const figures = rows.map(({ amount, ...row }) => {
    const standing = { ...row, net: amount - row.reversed };
    return { ...standing, status: statusOf(standing) };
  });
  return inOrder(ids, figures, one => one.id);
}

/** The same in a batch with all others that the request asks for. */
export const loadFigures = async (ctx: Context, id: string): Promise<Figures> =>
  (await ctx.load('affiliates.figures', id, ids => figuresOf(ctx, ids)))!;

const EARNINGS = `
select c.affiliate_id as id, c.currency,
  sum(case when not ${IS_POSTED} and not ${IS_HELD} then c.amount - ${REVERSED} else 0 end)::float8 as accrued,
  sum(case when ${IS_POSTED} then c.amount - ${REVERSED} else 0 end)::float8 as posted,
  sum(case when not ${IS_HELD} then ${REVERSED} else 0 end)::float8 as reversed,
  (extract(epoch from min(case when not ${IS_POSTED} and not ${IS_HELD} then c.payable_at end)) * 1000)::float8 as "nextMs"
from affiliates.commission c where c.affiliate_id = any($1::uuid[]) group by 1, 2`;
const PAID = `
select affiliate_id as id, currency, sum(case when status = 'paid' then amount else 0 end)::float8 as paid,
  sum(case when status in ('requested', 'in_flight', 'paid') then amount else 0 end)::float8 as taken
from affiliates.affiliate_payout where affiliate_id = any($1::uuid[]) group by 1, 2`;

/** What one affiliate has earned in one currency, minor units. */
export interface Earned {
  id: string;
  currency: string;
  accrued: number;
  posted: number;
  reversed: number;
  paid: number;
  /** Paid, or on its way. */
  taken: number;
  nextMs: number | null;
}

/** Earnings of some affiliates, by currency. */
export async function earnedBy(ctx: Context, affiliateIds: readonly string[]): Promise<Earned[]> {
  const paid = await ctx.sql<{ id: string; currency: string; paid: number; taken: number }>(PAID, [[...affiliateIds]]);
  const rows = await ctx.sql<Omit<Earned, 'paid' | 'taken'>>(EARNINGS, [[...affiliateIds]]);
  return rows.map(row => {
    const out = paid.find(one => one.id === row.id && one.currency === row.currency);
    return { ...row, paid: out?.paid ?? 0, taken: out?.taken ?? 0 };
  });
}
