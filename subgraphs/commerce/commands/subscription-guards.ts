import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { ProductSubscriptionStatus, ScheduledOrderStatus } from '../entities/enums.js';
import type { ProductSubscription } from '../entities/subscription.js';
import { dateIn, editableUntil } from '../rules/cadence.js';
import type { CycleOf } from '../rules/cycles.js';

const { ACTIVE, CANCELLED } = ProductSubscriptionStatus;

/** @throws Problem conflict with its reason. */
export const conflict = (reason: string, detail: string): never => fail('conflict', detail, { reason });
/** The day there. */
export const today = (ctx: Context, { timeZone }: ProductSubscription): string => dateIn(ctx.now(), timeZone);

/** @throws Problem conflict `cutoff_passed` within a day of an order, and while it is made. */
export function requireEditable(ctx: Context, { timeZone }: ProductSubscription, cycle: CycleOf & { status?: ScheduledOrderStatus }): void {
  const isOpen = cycle.status === undefined || cycle.status === ScheduledOrderStatus.SCHEDULED;
  if (!isOpen || ctx.now() >= editableUntil(cycle.orderOn, timeZone)) conflict('cutoff_passed', 'It is too late to change this order');
}

/** @throws Problem conflict `not_active`. */
export const requireActive = ({ status }: ProductSubscription): void =>
  void (status === ACTIVE || conflict('not_active', 'The subscription is not active'));
/** @throws Problem conflict `already_cancelled`. */
export const requireLiving = ({ status }: ProductSubscription): void =>
  void (status !== CANCELLED || conflict('already_cancelled', 'The subscription has been cancelled'));
