import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import { CheckoutMode, PaymentStatus, RefundStatus } from '../../subgraphs/payments/entities/enums-payment.js';
import { checkoutViolations, metadataViolations } from '../../subgraphs/payments/rules/checkout-input.js';
import { dueOf, lineAmount, shrunk, statementDescriptor } from '../../subgraphs/payments/rules/checkout.js';
import { methodSummary } from '../../subgraphs/payments/rules/payment-method.js';
import { nextLook, PAYMENT_STATES, type PaymentTrigger } from '../../subgraphs/payments/rules/payment-states.js';
import { redirectFault } from '../../subgraphs/payments/rules/redirect.js';
import {
  REFUND_STATES,
  splitOfObligation,
  splitOfPayment,
  taxShare,
  thresholdOf,
  type RefundTrigger,
} from '../../subgraphs/payments/rules/refund.js';

const nextOf = (work: () => string): string => {
  try {
    return work();
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const TRIGGERS: PaymentTrigger[] = [
  'confirm',
  'succeed',
  'authorize',
  'require_action',
  'decline',
  'authenticate',
  'capture',
  'give_up',
  'cancel',
];
const X = 'conflict';
/** Source: payments 3.1, every state × every trigger. */
const PAYMENTS: [PaymentStatus, string[]][] = [
  [PaymentStatus.REQUIRES_PAYMENT_METHOD, ['processing', X, X, X, X, X, X, 'failed', 'cancelled']],
  [PaymentStatus.REQUIRES_ACTION, ['processing', X, X, X, 'requires_payment_method', 'processing', X, X, 'cancelled']],
  [PaymentStatus.PROCESSING, [X, 'succeeded', 'authorized', 'requires_action', 'requires_payment_method', X, X, X, X]],
  [PaymentStatus.AUTHORIZED, [X, X, X, X, X, X, 'succeeded', X, 'cancelled']],
  [PaymentStatus.SUCCEEDED, TRIGGERS.map(() => X)],
  [PaymentStatus.FAILED, TRIGGERS.map(() => X)],
  [PaymentStatus.CANCELLED, TRIGGERS.map(() => X)],
];

test.each(PAYMENTS)('a payment that is %s moves as the contract says, and refuses everything else', (from, expected) => {
  expect(TRIGGERS.map(trigger => nextOf(() => move(PAYMENT_STATES, 'payment', from, trigger)))).toEqual(expected);
});

const REFUND_TRIGGERS: RefundTrigger[] = ['approve', 'reject', 'succeed', 'require_action', 'fail', 'bounce'];
/** Source: payments 3.2. */
const REFUNDS: [RefundStatus, string[]][] = [
  [RefundStatus.REQUIRES_APPROVAL, ['pending', 'cancelled', X, X, X, X]],
  [RefundStatus.PENDING, [X, X, 'succeeded', 'requires_action', 'failed', X]],
  [RefundStatus.REQUIRES_ACTION, [X, X, 'succeeded', X, 'failed', X]],
  [RefundStatus.SUCCEEDED, [X, X, X, X, X, 'failed']],
  [RefundStatus.FAILED, REFUND_TRIGGERS.map(() => X)],
  [RefundStatus.CANCELLED, REFUND_TRIGGERS.map(() => X)],
];

test.each(REFUNDS)('a refund that is %s moves as the contract says, and refuses everything else', (from, expected) => {
  expect(REFUND_TRIGGERS.map(trigger => nextOf(() => move(REFUND_STATES, 'refund', from, trigger)))).toEqual(expected);
});

describe('an attempt without an answer', () => {
  const start = new Date('2026-11-21T08:00:00.000Z');
  const seconds = (looks: number, after = 0): number | null => {
    const now = new Date(start.getTime() + after * 1000);
    const at = nextLook(start, looks, now);
    return at && (at.getTime() - now.getTime()) / 1000;
  };

  test('is looked for after 10 s, 1 min, 5 min, 1 h, then every hour', () => {
    expect([0, 1, 2, 3, 4, 100].map(looks => seconds(looks))).toEqual([10, 60, 300, 3600, 3600, 3600]);
  });

  test('is given up after seven days', () => {
    expect(seconds(100, 7 * 86_400 - 3600)).toBe(3600);
    expect(seconds(100, 7 * 86_400 - 3599)).toBeNull();
  });
});

describe('a refund of a session', () => {
  test.each([
    [7000, { card: 6000, cash: 4000, credit: 0 }, { card: 6000, cash: 1000, credit: 0 }],
    [4000, { card: 0, cash: 10000, credit: 0 }, { card: 0, cash: 4000, credit: 0 }],
    [900, { card: 100, cash: 200, credit: 700 }, { card: 100, cash: 200, credit: 600 }],
    [50, { card: 100, cash: 200, credit: 700 }, { card: 50, cash: 0, credit: 0 }],
  ])('of %i is taken from card, cash and credit in this order', (amount, left, parts) => {
    expect(splitOfObligation(amount, left)).toEqual(parts);
  });
});

describe('a refund of a payment', () => {
  const settled = { card: 6000, cash: 4000, credit: 100 };

  test.each([
    [3000, { card: 6000, cash: 4000, credit: 100 }, { card: 3000, cash: 2000, credit: 50 }],
    [1, { card: 6000, cash: 4000, credit: 100 }, { card: 1, cash: 1, credit: 0 }],
    [6000, { card: 6000, cash: 3999, credit: 100 }, { card: 6000, cash: 3999, credit: 100 }],
    [5000, { card: 6000, cash: 10, credit: 0 }, { card: 5000, cash: 10, credit: 0 }],
  ])('of %i takes its share of cash and credit with it, never more than is left; the last one all of it', (amount, left, parts) => {
    expect(splitOfPayment(amount, settled, left)).toEqual(parts);
  });

  test('three refunds of a third give back what cash and tax come to, the rest with the last', () => {
    const shares = [2, 1, 0].map(after =>
      splitOfPayment(1, { card: 3, cash: 1, credit: 2 }, { card: after + 1, cash: 1, credit: [1, 2, 2][after]! }),
    );
    expect(shares.map(one => one.cash)).toEqual([0, 0, 1]);
    const taxes = [0, 1, 2].map(before => taxShare(1, 3, 1, { amount: before, tax: 0 }));
    expect(taxes).toEqual([0, 0, 1]);
  });

  test('has its share of the tax, half to even, the last one what is left', () => {
    expect(taxShare(825, 10825, 5000, { amount: 0, tax: 0 })).toBe(381);
    expect(taxShare(825, 10825, 5825, { amount: 5000, tax: 381 })).toBe(444);
    expect(taxShare(0, 0, 0, { amount: 0, tax: 0 })).toBe(0);
    expect(taxShare(1, 2, 1, { amount: 0, tax: 0 })).toBe(0);
  });

  test('has the threshold of its currency, 50 000 where none is set', () => {
    expect([
      thresholdOf({ USD: 100 }, 'USD'),
      thresholdOf({ USD: 100 }, 'EUR'),
      thresholdOf(null, 'USD'),
      thresholdOf({ USD: 'x' }, 'USD'),
    ]).toEqual([100, 50_000, 50_000, 50_000]);
  });
});

describe('an address to come back to', () => {
  const allowed = {
    hosts: ['shop.example'],
    redirectUris: ['https://app.example/callback', 'http://localhost:5173/callback'],
    production: true,
  };
  test.each([
    ['https://shop.example/done', true],
    ['https://app.example/other?x=1', true],
    ['https://app.example:8443/x', false],
    ['https://evil.example/', false],
    ['https://shop.example.evil.example/', false],
    ['https://shop.example@evil.example/', false],
    ['https://user:pw@shop.example/', false],
    ['http://shop.example/', false],
    ['http://localhost:5173/', false],
    ['javascript:alert(1)', false],
    ['/relative', false],
    [`https://shop.example/${'x'.repeat(2048)}`, false],
  ])('%s in production: %s', (url, isFine) => {
    expect(redirectFault(url, allowed) === null).toBe(isFine);
  });

  test('may be http://localhost outside production only', () => {
    expect(redirectFault('http://localhost:9/x', { ...allowed, production: false })).toBeNull();
    expect(redirectFault('http://127.0.0.1:9/x', { ...allowed, production: false })).not.toBeNull();
  });
});

describe('an amount', () => {
  test('of 99 999 999 × 999 is exact, and one past 2^53 is refused', () => {
    expect(lineAmount({ unitAmount: 99_999_999, quantity: 999 })).toBe(99_899_999_001);
    expect(() => lineAmount({ unitAmount: Number.MAX_SAFE_INTEGER, quantity: 2 })).toThrow(RangeError);
  });

  test('that is captured in part makes what is owed smaller: first what is bought, then shipping, then tax', () => {
    const totals = { subtotal: 1000, discount: 100, tax: 50, shipping: 20 };
    expect([0, 900, 915, 960].map(by => dueOf(totals) - dueOf(shrunk(totals, by)))).toEqual([0, 900, 915, 960]);
    expect(shrunk(totals, 960)).toEqual({ subtotal: 100, discount: 100, tax: 10, shipping: 0 });
  });
});

test.each([
  ['Main Health Inc.', 'MAIN HEALTH INC'],
  ['Łucja', 'UCJA ONLINE'],
  ['A very long name of a brand indeed', 'A VERY LONG NAME OF A'],
  ['Ö & Co', 'O CO ONLINE'],
])('the statement of a card says %j as %s', (name, text) => {
  expect(statementDescriptor(name)).toBe(text);
});

test('a method is known by its last digits', () => {
  expect(methodSummary({ cardBrand: 'visa', cardLast4: '4242', bankLast4: null, type: 'card' })).toBe('visa •4242');
  expect(methodSummary({ cardBrand: null, cardLast4: null, bankLast4: '6789', type: 'us_bank_account' })).toBe('us bank account •6789');
});

describe('what is asked of a checkout', () => {
  const base = { mode: CheckoutMode.PAYMENT, useCash: false, offSession: false };
  const pointers = (asked: object, isService = true): string[] =>
    checkoutViolations({ ...base, ...asked }, isService).map(({ pointer }) => pointer);
  const items = [{ quantity: 1 }];

  test.each([
    [{ items }, true, []],
    [{}, true, ['/input']],
    [{ items, orderId: 'x' }, true, ['/input']],
    [{ orderId: 'x', promoCode: 'A' }, true, ['/input/promoCode']],
    [{ amount: { amount: 5 }, reference: {} }, true, []],
    [{ amount: { amount: 5 }, reference: {} }, false, ['/input/amount']],
    [{ amount: { amount: 0 }, reference: {} }, true, ['/input/amount/amount']],
    [{ amount: { amount: 5 } }, true, ['/input/reference']],
    [{ items, offSession: true }, true, ['/input/paymentMethodId']],
    [{ items, offSession: true, paymentMethodId: 'm' }, false, ['/input/offSession']],
    [{ items, paymentMethodId: 'm', paymentMethodToken: 't' }, true, ['/input/paymentMethodToken']],
    [{ mode: CheckoutMode.SUBSCRIPTION, items: [...items, ...items] }, true, ['/input/items']],
    [{ mode: CheckoutMode.SUBSCRIPTION, items: [{ quantity: 101 }] }, true, ['/input/items/0/quantity']],
    [{ mode: CheckoutMode.SETUP, items }, true, ['/input/mode']],
    [{ mode: CheckoutMode.SETUP }, true, []],
  ])('%j by a service (%s) is wrong at %j', (asked, isService, expected) => {
    expect(pointers(asked, isService)).toEqual(expected);
  });

  test('has at most 20 keys of metadata, of 40 characters, with texts of 500', () => {
    expect(metadataViolations({ a: 'x'.repeat(500), b: 1, c: true, d: null })).toEqual([]);
    expect(metadataViolations(Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 1])))).toHaveLength(1);
    expect(metadataViolations({ ['k'.repeat(41)]: 1, v: 'x'.repeat(501), o: {} })).toHaveLength(3);
  });
});
