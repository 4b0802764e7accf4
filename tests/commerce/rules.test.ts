import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BackorderPolicy,
  CadenceUnit,
  InventoryLotStatus,
  OrderStatus,
  ProductSubscriptionStatus,
} from '../../subgraphs/commerce/entities/enums.js';
import { shopUrlFault } from '../../subgraphs/commerce/rules/address.js';
import { editableUntil, nextDate, orderInstant } from '../../subgraphs/commerce/rules/cadence.js';
import { allocate, exclusiveTax, inclusiveTax, unitsOf } from '../../subgraphs/commerce/rules/money.js';
import { ORDER_STATES, settlementOf, SUBSCRIPTION_STATES } from '../../subgraphs/commerce/rules/order.js';
import { price } from '../../subgraphs/commerce/rules/pricing.js';
import { fold } from '../../subgraphs/commerce/rules/search.js';
import { bundleStock, isSellable, pickLots, takeable } from '../../subgraphs/commerce/rules/stock.js';

const line = (unitPrice: number, quantity: number, ppm = 0, taxInclusive = false) => ({ unitPrice, quantity, ppm, taxInclusive });

describe('money', () => {
  test('1: 3 × 1999 and 1 × 4500, 10 %, 82500 ppm, shipping 599 → 600/450, 445 + 334, 10825', () => {
    const { lines, totals } = price([line(1_999, 3, 82_500), line(4_500, 1, 82_500)], { amount: 1_050 }, 599);
    expect(lines.map(one => [one.discount, one.tax])).toEqual([
      [600, 445],
      [450, 334],
    ]);
    expect(totals).toMatchObject({ subtotal: 10_497, discount: 1_050, tax: 779, total: 10_825, taxIncluded: false });
  });

  test('2: three lines of 333 share a discount of 100 as 34, 33, 33', () => {
    expect(allocate(100, [333, 333, 333])).toEqual([34, 33, 33]);
  });

  test('3: JPY 5940 holds 540 at 100000 ppm; KWD 12500 bears 625 at 50000 ppm', () => {
    expect(price([line(5_940, 1, 100_000, true)], { amount: 0 }, 0).totals).toMatchObject({ tax: 540, total: 5_940, taxIncluded: true });
    expect(exclusiveTax(12_500, 50_000)).toBe(625);
  });

  test('parts always sum to the whole, and no part is more than one from its share', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.array(fc.nat(100_000), { minLength: 1, maxLength: 50 }), (amount, weights) => {
        const parts = allocate(amount, weights);
        expect(parts.reduce((sum, one) => sum + one, 0)).toBe(amount);
        expect(parts.every(one => one >= 0)).toBe(true);
      }),
    );
  });

  test('all units of a line sum to its total, however they are given back', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.integer({ min: 1, max: 50 }), fc.nat(50), (total, quantity, cut) => {
        const first = Math.min(cut, quantity);
        expect(unitsOf(total, quantity, 0, first) + unitsOf(total, quantity, first, quantity - first)).toBe(total);
      }),
    );
  });

  test('half a unit goes to the even one', () => {
    expect([exclusiveTax(50, 10_000), exclusiveTax(150, 10_000), inclusiveTax(0, 190_000)]).toEqual([0, 2, 0]);
  });
});

describe('stock', () => {
  const TODAY = '2026-11-24';
  const lot = (id: string, expiresOn: string | null, free: number, status = InventoryLotStatus.AVAILABLE) => ({
    id,
    expiresOn,
    free,
    status,
  });

  test.each([
    [InventoryLotStatus.AVAILABLE, null, true],
    [InventoryLotStatus.AVAILABLE, '2026-12-08', false],
    [InventoryLotStatus.AVAILABLE, '2026-12-09', true],
    [InventoryLotStatus.QUARANTINED, null, false],
    [InventoryLotStatus.RECALLED, '2030-01-01', false],
    [InventoryLotStatus.DEPLETED, null, false],
  ])('a lot that is %s and expires on %s can be sold: %s', (status, expiresOn, sellable) => {
    expect(isSellable({ status, expiresOn }, TODAY)).toBe(sellable);
  });

  test('first expired, first out; what has no expiry comes last', () => {
    const lots = [
      lot('never', null, 5),
      lot('late', '2028-01-01', 5),
      lot('early', '2027-01-01', 2),
      lot('gone', '2027-01-02', 9, InventoryLotStatus.RECALLED),
    ];
    expect(pickLots(lots, 9, TODAY).map(one => [one.lot.id, one.quantity])).toEqual([
      ['early', 2],
      ['late', 5],
      ['never', 2],
    ]);
  });

  test('a bundle has as many as its scarcest part', () => {
    const stock = (available: number, backorder = BackorderPolicy.DENY, backorderLimit = 0) => ({
      tracked: true,
      available,
      backorder,
      backorderLimit,
    });
    const of = (a: number, b: number) =>
      takeable(
        bundleStock([
          { stock: stock(a), quantity: 2 },
          { stock: stock(b), quantity: 1 },
        ]),
      );
    expect([of(5, 9), of(9, 1), of(1, 9), of(-3, 9)]).toEqual([2, 1, 0, 0]);
    expect(takeable(stock(-2, BackorderPolicy.ALLOW, 5))).toBe(3);
  });
});

describe('orders', () => {
  const placing = [OrderStatus.PENDING_PAYMENT, OrderStatus.EXPIRED, OrderStatus.PAYMENT_FAILED];
  test.each(Object.values(OrderStatus))('an order that is %s is settled once, and with its own total only', status => {
    const order = { status, total: 100, currency: 'USD' };
    const waits = placing.includes(status);
    expect(settlementOf(order, { amount: 100, currency: 'USD' })).toBe(waits ? 'place' : 'known');
    expect(settlementOf(order, { amount: 99, currency: 'USD' })).toBe(waits ? 'mismatch' : 'known');
    expect(settlementOf(order, { amount: 100, currency: 'EUR' })).toBe(waits ? 'mismatch' : 'known');
    expect(ORDER_STATES[status].place).toBe(waits ? OrderStatus.PLACED : undefined);
    expect(ORDER_STATES[status].cancel).toBe(status === OrderStatus.PLACED ? OrderStatus.CANCELLED : undefined);
  });

  test('a subscription that is cancelled stays so', () => {
    expect(SUBSCRIPTION_STATES[ProductSubscriptionStatus.CANCELLED]).toEqual({});
  });
});

describe('dates', () => {
  test('13: monthly from 31 January goes on 28 February, 31 March, 30 April', () => {
    const month = { unit: CadenceUnit.MONTH, count: 1 };
    const dates = ['2026-01-31'];
    for (let index = 0; index < 3; index++) dates.push(nextDate(dates.at(-1)!, month, 31));
    expect(dates).toEqual(['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']);
  });

  test('an order is made at 09:00 there, in summer and in winter, and is fixed a day before', () => {
    expect(orderInstant('2026-01-31', 'Europe/Berlin').toISOString()).toBe('2026-01-31T08:00:00.000Z');
    expect(orderInstant('2026-07-31', 'Europe/Berlin').toISOString()).toBe('2026-07-31T07:00:00.000Z');
    expect(editableUntil('2026-01-31', 'Europe/Berlin').toISOString()).toBe('2026-01-30T08:00:00.000Z');
  });
});

test.each(['BPC-157', 'bpc 157', 'bpc157', 'ＢＰＣ-157'])('%s is one code', text => {
  expect(fold(text)).toBe('bpc157');
});

test.each([
  ['https://main.example/thanks', true, null],
  ['https://evil.example/', true, "must be on one of the brand's domains"],
  ['https://main.example.evil.example/', true, "must be on one of the brand's domains"],
  ['https://main.example@evil.example/', true, 'must not hold a user name or password'],
  ['http://localhost:3000/', false, null],
  ['http://localhost:3000/', true, 'must be an https URL'],
  ['javascript:alert(1)', true, 'must be an https URL'],
])('%s in production %s: %s', (url, production, fault) => {
  expect(shopUrlFault(url, { hosts: ['main.example'], production })).toBe(fault);
});
