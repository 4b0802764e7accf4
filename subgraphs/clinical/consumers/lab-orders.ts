import { labsVendorOrderStatusChanged } from '../../../events/catalogue/integrations.js';
import { type Consumer, handle } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { followOrder } from '../commands/lab-order.js';

const statusChanged = handle(labsVendorOrderStatusChanged, (ctx: Context, { user_id: patientId, data }) =>
  followOrder(ctx, {
    labOrderId: data.lab_order_id,
    patientId: patientId!,
    status: data.to,
    changedAt: new Date(data.changed_at),
  }),
);

/** Lab orders under way, as their laboratories report them. Source: clinical 5, 7.1.11. */
export const labOrders: Consumer<Context> = { name: 'clinical.lab_orders', on: [statusChanged] };
