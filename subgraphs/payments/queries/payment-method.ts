import { inOrder } from '../../../runtime/data/loaders.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { PAYMENT_READERS } from '../entities/access.js';
import { BillingCustomer } from '../entities/customer.js';
import { PaymentMethodStatus } from '../entities/enums-payment.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { ownRows } from './own-rows.js';

const shown = { status: { $ne: PaymentMethodStatus.DETACHED } };
const order = { isDefault: 'desc', createdAt: 'desc', id: 'desc' } as const;

/** What a user can pay with, the default first. */
export const methodsOf = (ctx: Context, userId: string): Promise<PaymentMethod[]> =>
  ctx.em.find(PaymentMethod, { ...shown, userId: userId.toLowerCase() }, { orderBy: order });

/** The same of one customer. @throws Problem not_found: another's, or none. */
export async function methodsOfCustomer(ctx: Context, id: string): Promise<PaymentMethod[]> {
  const customer = await findRow(ctx, BillingCustomer, { id, ...ownRows(ctx, PAYMENT_READERS) });
  if (!customer) fail('not_found', 'No such customer');
  return ctx.em.find(PaymentMethod, { ...shown, customerId: customer.id }, { orderBy: order });
}

const SHARED = `
select exists (select from payments.payment_method where user_id = any($1::uuid[]) and fingerprint is not null
  group by fingerprint having count(distinct user_id) > 1) as shared`;

/** Whether two of these people have paid with the same card or account; fingerprints never leave the database. */
export async function shareMethod(ctx: Context, userIds: readonly string[]): Promise<boolean> {
  const [row] = await ctx.sql<{ shared: boolean }>(SHARED, [userIds]);
  return row!.shared;
}

/** The default method of a customer, in a batch with those of all others that are asked for. */
export const defaultMethodOf = (ctx: Context, customerId: string): Promise<PaymentMethod | null> =>
  ctx.load('PaymentMethod.default', customerId, async ids => {
    const found = await ctx.em.find(PaymentMethod, { customerId: { $in: [...ids] }, isDefault: true });
    return inOrder(ids, found, method => method.customerId);
  });
