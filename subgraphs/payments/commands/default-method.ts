import type { Context } from '../../../runtime/request/context.js';
import type { PaymentMethod } from '../entities/payment-method.js';

/** Overdue invoices that no schedule tries (declined for good, or nothing to charge) are tried again at once with another method. Source: payments 3.5. */
const TRY_AGAIN = `
update payments.invoice set next_attempt_at = $2, version = version + 1
where customer_id = $1 and status = 'past_due' and next_attempt_at is null and hard_declined_method_id is distinct from $3`;

/** Another method is the default of a customer, in the transaction that made it so. */
export async function defaultMethodChanged(ctx: Context, { id, customerId }: PaymentMethod): Promise<void> {
  await ctx.sql(TRY_AGAIN, [customerId, ctx.now().toISOString(), id]);
}
