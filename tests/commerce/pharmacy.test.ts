import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { partnerOrderCreated, partnerOrderDelivered, partnerOrderFailed, partnerOrderShipped } from '../../events/catalogue/partner.js';
import type { StoredDocument } from '../../runtime/federation/federation.js';
import { until } from '../support/until.js';
import { Shop, usd } from './shop.js';

/** What partner would answer: our order and line by its reference. */
const known = new Map<string, { commerceOrderId: string; commerceLineId: string | null }>();
let asked: string[] = [];
let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
  const { federation } = shop.p.host('commerce');
  const real = federation.run.bind(federation);
  const run = async (document: StoredDocument, variables: any, ...rest: any[]): Promise<any> => {
    if (!document.source.includes('query CommercePartnerOrder')) return real(document, variables, ...(rest as []));
    asked.push(variables.ref);
    return { partnerOrder: known.get(variables.ref) ?? null };
  };
  Object.assign(federation, { run });
}, 400_000);
beforeEach(() => (asked = []));

const PRESCRIPTION = { purchase_requirement: 'prescription', medication_code: 'semaglutide' };
const report = (ref: string) => ({
  partner_event_id: `evt_${randomUUID()}`,
  partner_ref: 'pt_1',
  reported_at: '2026-11-24T12:00:00.000Z',
  order_ref: ref,
});
const newRef = (): string => `or_${randomUUID().slice(0, 8)}`;

/** An order of something that needs a prescription, by somebody who has one; it has been handed to the pharmacy. */
async function prescribed(): Promise<{ order: any; user: string }> {
  const user = randomUUID();
  await shop.grant(user, 'prescription:semaglutide');
  const variant = await shop.sell({ product: PRESCRIPTION, more: { requires_shipping: false } });
  const order = await shop.order([{ variant, quantity: 1 }], user);
  await until(
    'the pharmacy to have it',
    () => parcels(order.id),
    found => found.length === 1,
  );
  return { order, user };
}

const tell = (event: any, data: object, user: string): Promise<void> =>
  shop.tell('partner', event, data as never, user, 'commerce.partner_orders');
const shipped = (ref: string, user: string) =>
  tell(partnerOrderShipped, { ...report(ref), carrier: 'ups', tracking_ref: '1Z999', estimated_on: null }, user);
const delivered = (ref: string, user: string) =>
  tell(partnerOrderDelivered, { ...report(ref), delivered_at: '2026-11-24T12:00:00.000Z' }, user);
const parcels = async (id: string): Promise<any[]> => (await shop.read(id)).fulfillments.filter((one: any) => one.provider === 'partner');

describe('orders of the pharmacy', () => {
  test('32: one that was never seen, whose order is ours, is a fulfilment of it; one of no order of ours is ignored', async () => {
    const { order, user } = await prescribed();
    const ref = newRef();
    known.set(ref, { commerceOrderId: order.id, commerceLineId: order.items[0].id });
    await tell(partnerOrderCreated, { ...report(ref), treatment_ref: null, item_count: 1 }, user);
    expect(await parcels(order.id)).toMatchObject([
      { provider: 'partner', status: 'pending', external_ref: ref, items: [{ item_id: order.items[0].id, quantity: 1 }] },
    ]);
    await shipped(ref, user);
    expect(asked).toEqual([ref]);
    expect(await parcels(order.id)).toMatchObject([{ status: 'shipped', carrier: 'ups', tracking_number: '1Z999' }]);
    const strange = newRef();
    known.set(strange, { commerceOrderId: randomUUID(), commerceLineId: null });
    for (const one of [strange, newRef()]) await tell(partnerOrderCreated, { ...report(one), treatment_ref: null, item_count: 1 }, user);
    expect(await shop.p.sql('select external_ref from commerce.order_fulfillment where external_ref = $1', [strange])).toEqual([]);
  });

  test('25: one that is delivered and then said to be shipped stays delivered, and its order is complete', async () => {
    const { order, user } = await prescribed();
    const ref = newRef();
    known.set(ref, { commerceOrderId: order.id, commerceLineId: null });
    await delivered(ref, user);
    await shipped(ref, user);
    expect(await parcels(order.id)).toMatchObject([{ status: 'delivered', carrier: null }]);
    expect(await shop.read(order.id)).toMatchObject({
      status: 'completed',
      fulfillment_status: 'delivered',
      items: [{ fulfilled_quantity: 1 }],
    });
  });

  test('one that cannot be filled is failed and nothing of it is shipped; sent after all, it goes on', async () => {
    const { order, user } = await prescribed();
    const ref = newRef();
    known.set(ref, { commerceOrderId: order.id, commerceLineId: null });
    await tell(partnerOrderFailed, { ...report(ref), failure_code: 'out_of_stock' }, user);
    expect(await parcels(order.id)).toMatchObject([{ status: 'failed' }]);
    expect(await shop.read(order.id)).toMatchObject({ status: 'placed', fulfillment_status: 'unfulfilled' });
    await shipped(ref, user);
    expect(await shop.read(order.id)).toMatchObject({ fulfillment_status: 'fulfilled' });
  });
});

test('what needs a prescription is refused to who has none, and sold to who is cleared', async () => {
  const variant = await shop.sell({ price: 5_000, product: PRESCRIPTION, more: { requires_shipping: false } });
  const user = randomUUID();
  const { cart } = await shop.cart(user, [{ variant, quantity: 1 }]);
  expect(await shop.checkout(cart.id)).toMatchObject({ status: 403, body: { reason: 'requirement_not_met' } });
  await shop.grant(user, 'prescription:semaglutide');
  expect(await shop.checkout(cart.id)).toMatchObject({ status: 200, body: { status: 'placed', order: { totals: { total: usd(5_000) } } } });
});
