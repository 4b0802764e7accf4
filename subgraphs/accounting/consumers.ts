import { commissionPosted, commissionReversed, earningsAccrued } from '../../events/catalogue/affiliates.js';
import { cashExpired, cashGranted, cashSpent } from '../../events/catalogue/cash.js';
import {
  paymentCharged,
  paymentDisputeClosed,
  paymentDisputeCreated,
  paymentInvoicePaid,
  paymentInvoiceRefunded,
  paymentPaid,
  paymentRefunded,
  subscriptionCancelled,
} from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { EventDefinition } from '../../events/define.js';
import type { Context } from '../../runtime/request/context.js';
import { bookEvent } from './commands/booking.js';
import { cutRefunded, endSubscription, openSchedule } from './commands/recognition.js';

/** Events that are booked before the transaction of their inbox row, by the rule of their type. */
const BOOKED: readonly EventDefinition[] = [
  paymentCharged,
  paymentPaid,
  paymentRefunded,
  paymentDisputeCreated,
  paymentDisputeClosed,
  cashGranted,
  cashSpent,
  cashExpired,
  earningsAccrued,
  commissionPosted,
  commissionReversed,
];
const booked = BOOKED.map(event =>
  handle<EventDefinition, Context>(
    event,
    async () => undefined,
    () => false,
  ),
);

const invoicePaid = handle(paymentInvoicePaid, (ctx: Context, { user_id, data }) => openSchedule(ctx, user_id, data));
const invoiceRefunded = handle(paymentInvoiceRefunded, (ctx: Context, { data }) => cutRefunded(ctx, data));
const cancelled = handle(subscriptionCancelled, async (ctx: Context, { data }) => {
  if (data.kind === 'billing') await endSubscription(ctx, data.subscription_id, new Date(data.ended_at));
});

/** Source: accounting 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'accounting.ledger', prepare: bookEvent, on: [...booked, invoicePaid, invoiceRefunded, cancelled] },
];
