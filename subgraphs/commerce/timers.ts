import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest, earliestOf } from '../../runtime/time/due.js';
import { leasedRows } from '../../runtime/time/leased-rows.js';
import { DAY_MS, MINUTE_MS } from '../../runtime/time/durations.js';
import { dueSweep } from '../../runtime/time/due-sweep.js';
import { expireCarts } from './commands/cart.js';
import { rejudgeLots } from './commands/lot-expiry.js';
import { expireOrder } from './commands/order-outcome.js';
import { lockOrder } from './commands/order-row.js';
import { TASK_LEASE_MS, workTask } from './commands/payment-task.js';
import { settleDue } from './commands/recall.js';
import { UNWARNED, warnDue } from './commands/recall-warnings.js';
import { RENEWAL_LEASE_MS, renew } from './commands/renewal.js';
import { tellDueNotices } from './commands/stock-notice.js';
import { eraseAtStorefront } from './commands/storefront-erasure.js';
import { wakeRested } from './commands/subscription.js';
import { runSync, SYNC_LEASE_MS } from './commands/sync-run.js';
import { PaymentTask } from './entities/order.js';
import { ScheduledCycle } from './entities/scheduled-cycle.js';
import { CommerceSyncJob, StorefrontErasure } from './entities/sync.js';

/** Refunds, cancellations and promos that payments is to be asked for. */
const tasks = leasedRows({
  name: 'commerce.payment_tasks',
  everySeconds: 1,
  entity: PaymentTask,
  due: 'dueAt',
  waiting: 'done_at is null',
  most: 20,
  leaseMs: TASK_LEASE_MS,
  work: workTask,
});

const carts: Timer<Context> = {
  name: 'commerce.carts',
  everySeconds: 60,
  next: earliest(`select expires_at as at from commerce.cart where status = 'active'`),
  run: expireCarts,
};

const DUE = `select id from commerce.shop_order where status = 'pending_payment' and expires_at <= $1 order by expires_at, id limit 1`;

/** Orders that nobody has paid in time: each in a transaction of its own, as each locks its order first and its stock last. */
const orders: Timer<Context> = {
  name: 'commerce.unpaid_orders',
  everySeconds: 5,
  next: earliest(`select expires_at as at from commerce.shop_order where status = 'pending_payment'`),
  run: async (ctx, at) => {
    for (const { id } of await ctx.sql<{ id: string }>(DUE, [at.toISOString()])) await expireOrder(ctx, await lockOrder(ctx, id));
  },
};

/** Once a day: lots that have too little time left to be sold. Source: commerce 2. */
const lots = dueSweep({ name: 'commerce.lots', everyMs: DAY_MS, run: rejudgeLots }, ctx =>
  earliestOf(
    ctx,
    `select (expires_on - 14)::timestamptz as at from commerce.inventory_lot where status = 'available' and expires_on is not null and on_hand > 0 and expires_on - 14 >= $1::date`,
    [ctx.now().toISOString().slice(0, 10)],
  ),
);

/** Cycles of subscriptions whose time has come, and those that are tried again. */
const renewals = leasedRows({
  name: 'commerce.renewals',
  everySeconds: 5,
  entity: ScheduledCycle,
  due: 'nextAttemptAt',
  waiting: `status in ('scheduled', 'processing')`,
  most: 20,
  leaseMs: RENEWAL_LEASE_MS,
  work: renew,
});

/** Runs of the exchange with the storefront; one that its process has left is taken over at its cursor. */
const syncs = leasedRows({
  name: 'commerce.syncs',
  everySeconds: 1,
  entity: CommerceSyncJob,
  due: 'dueAt',
  waiting: `status in ('queued', 'running')`,
  most: 5,
  leaseMs: SYNC_LEASE_MS,
  work: runSync,
});

/** Customers whom the storefront has still to forget. */
const storefrontErasures = leasedRows({
  name: 'commerce.storefront_erasures',
  everySeconds: 5,
  entity: StorefrontErasure,
  due: 'dueAt',
  waiting: 'done_at is null',
  most: 20,
  leaseMs: MINUTE_MS,
  work: eraseAtStorefront,
});

/** Subscriptions that rest until a day, which begins at midnight where they are. */
const rested: Timer<Context> = {
  name: 'commerce.rested_subscriptions',
  everySeconds: 60,
  next: earliest(
    `select (paused_until::timestamp at time zone time_zone) as at from commerce.product_subscription where status = 'paused' and paused_until is not null`,
  ),
  run: wakeRested,
};

/** Those of many who are still to be told that a variant is there again. */
const notices: Timer<Context> = {
  name: 'commerce.stock_notices',
  everySeconds: 5,
  next: earliest('select due_at as at from commerce.stock_notice where due_at is not null and closed_at is null'),
  run: tellDueNotices,
};

/** Those of many orders that still hold units of a recalled lot. */
const recalls: Timer<Context> = {
  name: 'commerce.recalls',
  everySeconds: 5,
  next: earliest('select settle_at as at from commerce.inventory_lot where settle_at is not null'),
  run: settleDue,
};

/** Those of many buyers who are still to be warned. */
const recallWarnings: Timer<Context> = {
  name: 'commerce.recall_warnings',
  everySeconds: 5,
  next: async ctx => ((await ctx.sql(UNWARNED)).length > 0 ? ctx.now() : null),
  run: warnDue,
};

export const timers: readonly Timer<Context>[] = [
  tasks,
  carts,
  orders,
  lots,
  renewals,
  rested,
  syncs,
  storefrontErasures,
  notices,
  recalls,
  recallWarnings,
];
