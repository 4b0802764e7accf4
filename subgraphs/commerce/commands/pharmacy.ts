import { newId } from '../../../runtime/data/ids.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Order, PaymentTask } from '../entities/order.js';
import { submitToPharmacy } from '../ports/pharmacy.js';
import { fulfillmentsOf, itemRows } from '../queries/order.js';

const MEDICATION = 'select p.medication_code as code from commerce.product p where p.id = $1';
const INSERT = `
insert into commerce.order_fulfillment (id, order_id, status, provider, items, external_ref, created_at, updated_at)
values ($1, $2, 'pending', 'partner', $3, $4, $5, $5) on conflict (external_ref) do nothing`;

/** Hands the lines that need a prescription to the pharmacy, each once; outside transactions. */
export async function submitOrder(host: ServiceHost, order: Order, _task: PaymentTask): Promise<void> {
  const { lines, known } = await host.read(async ctx => ({
    lines: await itemRows(ctx, [order.id]),
    known: await fulfillmentsOf(ctx, [order.id]),
  }));
  const taken = new Set(known.filter(one => one.provider === 'partner').flatMap(one => one.items.map(item => item.itemId)));
  for (const line of lines.filter(one => one.requirement === 'prescription' && !taken.has(one.id))) {
    const [medication] = await host.read(ctx => ctx.sql<{ code: string | null }>(MEDICATION, [line.productId]));
    if (!medication?.code || order.userId === null) continue;
    const asked = { orderId: order.id, lineId: line.id, userId: order.userId, medicationCode: medication.code, quantity: line.quantity };
    const ref = await submitToPharmacy(host, asked);
    await host.transaction(async ctx => {
      const items = JSON.stringify([{ itemId: line.id, quantity: line.quantity }]);
      await ctx.sql(INSERT, [newId(), order.id, items, ref, ctx.now().toISOString()]);
    });
  }
}
