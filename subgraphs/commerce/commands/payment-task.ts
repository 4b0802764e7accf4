import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { after, SECOND_MS } from '../../../runtime/time/durations.js';
import { Order, PaymentTask } from '../entities/order.js';
import { paymentsOf, type OrderToPay } from '../ports/payments.js';
import { taskPause } from '../rules/task.js';
import { submitOrder } from './pharmacy.js';

/** A task is taken over by another process after this. */
export const TASK_LEASE_MS = 30 * SECOND_MS;
/** Refusals that another try would only repeat. */
const FINAL = ['conflict', 'not_found', 'invalid_request', 'forbidden'];

interface Wanted {
  kind: PaymentTask['kind'];
  /** One task for each. */
  key: string;
  amount?: number | null;
  reason?: string;
}

/** Leaves a task for after the commit: payments is never asked inside a transaction. One with the same key is there already. */
export async function leaveTask(
  ctx: Context,
  order: Pick<Order, 'id' | 'currency'>,
  { kind, key, amount = null, reason }: Wanted,
): Promise<void> {
  await ctx.em.flush();
  if (await ctx.em.findOne(PaymentTask, { key })) return;
  const task = Object.assign(new PaymentTask(), {
    orderId: order.id,
    kind,
    key,
    amount,
    currency: order.currency,
    reason: reason ?? null,
    dueAt: ctx.now(),
    createdAt: ctx.now(),
  });
  await ctx.em.persist(task).flush();
}

/** What payments is told of an order. */
export const toPay = ({ id, userId, currency, total, payment }: Order): OrderToPay => ({
  id,
  userId: userId ?? '',
  currency,
  total,
  payment,
});

/** The session of an order; one whose answer was lost is found by asking again, which charges nothing twice. */
async function sessionOf(host: ServiceHost, order: Order): Promise<string | null> {
  if (order.checkoutSessionId !== null) return order.checkoutSessionId;
  return paymentsOf(host)
    .createCheckout(toPay(order))
    .then(
      session => session.id,
      error => {
        const known = error instanceof Problem ? error.options.members?.checkoutSessionId : undefined;
        if (typeof known === 'string') return known;
        if (error instanceof Problem && FINAL.includes(error.code)) return null;
        throw error;
      },
    );
}

/** What a cancelled checkout turned out to be paid, the order is to be settled by. */
async function cancelCheckout(host: ServiceHost, order: Order): Promise<void> {
  const session = await sessionOf(host, order);
  if (session !== null) await paymentsOf(host).cancelCheckout(order.id, session); // a paid one is told of by payment.paid
}

async function refund(host: ServiceHost, order: Order, { amount, currency, key, reason }: PaymentTask): Promise<void> {
  const session = await sessionOf(host, order);
  if (session === null) throw new Error('the order has no session to refund');
  await paymentsOf(host).refund(session, {
    amount,
    currency: currency!,
    key,
    reason: reason ?? 'REQUESTED_BY_CUSTOMER',
    orderId: order.id,
  });
}

const WORK: Readonly<Record<PaymentTask['kind'], (host: ServiceHost, order: Order, task: PaymentTask) => Promise<void>>> = {
  refund,
  cancel: cancelCheckout,
  commit: (host, { id }) => paymentsOf(host).commitPromo(id),
  release: (host, { id }) => paymentsOf(host).releasePromo(id),
  submit: submitOrder,
};

/** Does one task, outside any transaction; what fails is tried again for as long as it takes. */
export async function workTask({ host, log }: Context, { id }: PaymentTask): Promise<void> {
  const found = await host.read(async ctx => {
    const task = await ctx.em.findOneOrFail(PaymentTask, { id });
    return { task, order: await ctx.em.findOne(Order, { id: task.orderId }) };
  });
  const { task, order } = found;
  const failure = order
    ? await WORK[task.kind](host, order, task).then(
        () => null,
        (error: unknown) => error,
      )
    : null;
  const isFinal = failure instanceof Problem && FINAL.includes(failure.code);
  if (failure)
    log.warn(
      { kind: task.kind, code: failure instanceof Problem ? failure.code : 'error', order: task.orderId },
      'a task of an order failed',
    );
  await host.transaction(async ctx => {
    const done = failure === null || (isFinal && task.kind !== 'refund');
    const change = done ? { dueAt: null, doneAt: ctx.now() } : { dueAt: after(ctx.now(), taskPause(task.attempts)) };
    await ctx.em.nativeUpdate(PaymentTask, { id }, { ...change, attempts: task.attempts + 1 });
  });
}
