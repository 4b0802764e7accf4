import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { earliest } from '../../../runtime/time/due.js';
import { endReservations } from '../commands/promo.js';

const STARTS = `select starts_at as at from payments.promo where status = 'scheduled'`;
const ENDS = `select ends_at from payments.promo where status in ('scheduled', 'active', 'exhausted') and ends_at is not null`;

const EDGES = `
  update payments.promo set version = version + 1, status = case when ends_at <= $1 then 'expired'
    when redeemed_count + reserved_count >= max_redemptions then 'exhausted' else 'active' end
  where (status = 'scheduled' and starts_at <= $1) or (status in ('scheduled', 'active', 'exhausted') and ends_at <= $1)`;

/** Promos that start and end; what is decided about a code looks at the times itself. Source: payments 3.7. */
const edges: Timer<Context> = {
  name: 'promos',
  next: earliest(`${STARTS} union all ${ENDS}`),
  run: async (ctx, at) => void (await ctx.sql(EDGES, [at.toISOString()])),
};

/** Reservations whose time is over. Source: payments 5.3, 7.18. */
const reservations: Timer<Context> = {
  name: 'promo-reservations',
  next: earliest(`select expires_at as at from payments.promo_redemption where status = 'reserved' and expires_at is not null`),
  run: endReservations,
};

export const promoTimers: readonly Timer<Context>[] = [edges, reservations];
