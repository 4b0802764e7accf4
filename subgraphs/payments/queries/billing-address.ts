import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { PostalAddress } from '../../../runtime/schema/scalars.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { opened } from '../entities/sealed.js';

/** Where the customer is taxed: the address of the named method, else of the default one; null where none is known. */
export async function addressOf(ctx: Context, customerId: string, methodId: string | null): Promise<PostalAddress | null> {
  const where = methodId === null ? { customerId, isDefault: true } : { customerId, id: methodId };
  const method = await findRow(ctx, PaymentMethod, where);
  return method && opened<PostalAddress>(ctx, method.billingAddressSealed, 'payment_method', method.id);
}
