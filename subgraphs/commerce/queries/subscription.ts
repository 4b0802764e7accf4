import type { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { fail } from '../../../runtime/request/errors.js';
import type { PersonalData } from '../entities/cart.js';
import { ScheduledOrderStatus } from '../entities/enums.js';
import { ScheduledCycle, type ScheduledLine } from '../entities/scheduled-cycle.js';
import { ProductSubscription, type ProductSubscriptionItem, type ScheduledOrder } from '../entities/subscription.js';
import type { ProductSubscriptionsArgs } from '../inputs/subscription.js';
import { dateIn, editableUntil } from '../rules/cadence.js';
import { cycleId, cyclesFrom, lockedPriceOn, unitPriceOf, type CycleOf } from '../rules/cycles.js';
import { personalOf } from './priced-cart.js';

/** A line of a subscription; minor units. */
export interface ItemRow {
  id: string;
  subscriptionId: string;
  variantId: string;
  quantity: number;
  unitPrice: number;
  discountBps: number;
  pendingAmount: number | null;
  pendingFrom: string | null;
}

const ITEMS = `
select id, subscription_id as "subscriptionId", variant_id as "variantId", quantity, unit_price::float8 as "unitPrice", discount_bps as "discountBps",
  pending_amount::float8 as "pendingAmount", pending_from::text as "pendingFrom"
from commerce.product_subscription_item where subscription_id = any($1) order by subscription_id, position, id`;

export const subscriptionItems = (ctx: Context, ids: readonly string[]): Promise<ItemRow[]> => ctx.sql<ItemRow>(ITEMS, [ids]);

const loadRows = async (ctx: Context, id: string): Promise<ItemRow[]> =>
  (await ctx.load('commerce.subscriptionItems', id, async ids => {
    const rows = await subscriptionItems(ctx, ids as string[]);
    return ids.map(one => rows.filter(row => row.subscriptionId === one));
  })) ?? [];

const loadCycles = async (ctx: Context, id: string): Promise<ScheduledCycle[]> =>
  (await ctx.load('commerce.subscriptionCycles', id, async ids => {
    const rows = await ctx.em.find(ScheduledCycle, { subscriptionId: { $in: ids as string[] } }, { orderBy: { cycleIndex: 'asc' } });
    return ids.map(one => rows.filter(row => row.subscriptionId === one));
  })) ?? [];

/** What comes with each order, in a batch. */
export async function itemsOfSubscription(ctx: Context, { id, currency }: ProductSubscription): Promise<ProductSubscriptionItem[]> {
  const money = (amount: number) => ({ amount, currency });
  return (await loadRows(ctx, id)).map(({ unitPrice, pendingAmount, pendingFrom, ...row }) => ({
    ...row,
    unitPrice: money(unitPrice),
    pendingPrice: pendingAmount === null ? null : { amount: money(pendingAmount), effectiveOn: pendingFrom! },
  }));
}

/** What comes on a date: what was decided for it alone, else what the subscription has at the prices of that day. */
export const linesOn = (items: readonly ItemRow[], date: string, once: readonly ScheduledLine[] | null): ScheduledLine[] =>
  once?.slice() ??
  items.map(item => ({
    itemId: item.id,
    variantId: item.variantId,
    quantity: item.quantity,
    unitPrice: lockedPriceOn(item, date),
    discountBps: item.discountBps,
  }));

/** Cycles to come, and those that were left out and whose day has not passed. Nothing comes of one that is paused or over. */
function cyclesToCome(
  subscription: ProductSubscription,
  known: readonly ScheduledCycle[],
  today: string,
  many: number,
): (CycleOf | ScheduledCycle)[] {
  const { cycleIndex, nextOrderOn } = subscription;
  const passed = known.filter(one => one.cycleIndex < cycleIndex && one.orderOn >= today && one.status === ScheduledOrderStatus.SKIPPED);
  if (nextOrderOn === null) return passed.slice(0, many);
  const byIndex = new Map(known.map(one => [one.cycleIndex, one]));
  return [...passed, ...cyclesFrom({ cycleIndex, orderOn: nextOrderOn }, subscription, byIndex, many)].slice(0, many);
}

/** The next orders of a subscription, in a batch. */
export async function upcomingOf(ctx: Context, subscription: ProductSubscription, many: number): Promise<ScheduledOrder[]> {
  const [items, known] = await Promise.all([loadRows(ctx, subscription.id), loadCycles(ctx, subscription.id)]);
  const { timeZone, currency } = subscription;
  return cyclesToCome(subscription, known, dateIn(ctx.now(), timeZone), many).map(cycle => {
    const row = cycle instanceof ScheduledCycle ? cycle : null;
    const lines = linesOn(items, cycle.orderOn, row?.items ?? null);
    return {
      id: cycleId(subscription.id, cycle.cycleIndex),
      cycleIndex: cycle.cycleIndex,
      orderOn: cycle.orderOn,
      status: row?.status ?? ScheduledOrderStatus.SCHEDULED,
      items: lines.map(line => ({
        variantId: line.variantId,
        quantity: line.quantity,
        unitPrice: { amount: unitPriceOf(line), currency },
      })),
      estimatedTotal: { amount: lines.reduce((sum, line) => sum + unitPriceOf(line) * line.quantity, 0), currency },
      orderId: row?.orderId ?? null,
      attempts: row?.attempts ?? 0,
      nextAttemptAt: row?.nextAttemptAt ?? null,
      failureCode: row?.failureCode ?? null,
      editableUntil: editableUntil(cycle.orderOn, timeZone),
    };
  });
}

/** A member's own subscriptions; services see all. */
export const ownSubscriptions = ({ caller }: Context): { userId?: string } => (caller.kind === 'user' ? { userId: caller.userId! } : {});

export const subscriptionById = (ctx: Context, id: string): Promise<ProductSubscription | null> =>
  findRow(ctx, ProductSubscription, { id: id.toLowerCase(), ...ownSubscriptions(ctx) });

/** Of one user, newest first. @throws Problem not_found for another's id. */
export function subscriptionsPage(
  ctx: Context,
  { userId, status, ...args }: ProductSubscriptionsArgs,
): Promise<Connection<ProductSubscription>> {
  const id = userId.toLowerCase();
  if (ctx.caller.kind === 'user' && ctx.caller.userId !== id) fail('not_found', 'No such customer');
  return page(ctx.em, ProductSubscription, { userId: id, ...(status && { status }) }, args, { time: 'createdAt' });
}

/** Where it is sent to. */
export const personalOfSubscription = (ctx: Context, subscription: ProductSubscription): PersonalData | null =>
  personalOf(ctx, subscription, 'product_subscription');
