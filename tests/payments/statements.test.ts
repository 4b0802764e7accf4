import { beforeAll, expect, test } from 'vitest';
import { askedDuring } from '../support/statements.js';
import { Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ env: { ROLES: 'subgraphs,gateway,rest' } }); // no timer that asks meanwhile
}, 400_000);

/** What the processor's own call of the same charge asks meanwhile, the sandbox, and the clock. */
const OTHERS = /processor_(event|object)|test_clock|select exists/;

/** Verb and table of each statement on the tables of payments. */
async function statements(work: () => Promise<unknown>): Promise<string[]> {
  const asked = await askedDuring(shop.p, work);
  return asked.flatMap(({ text }) => {
    const [, verb, table] = (!OTHERS.test(text) && /^\W*(\w+)\b.*?\bpayments"?\."?(\w+)/s.exec(text)) || [];
    return verb ? [`${/ for (no key )?update/.test(text) ? 'lock' : verb} ${table}`] : [];
  });
}

test('a purchase with a method that is attached begins its charge in the transaction that opens it, and reads no row twice in one', async () => {
  const user = await shop.stranger();
  const attached = await shop.post('/v1/billing/payment-methods', { token: 'pm_card_visa', default: true, user_id: user });
  const items = [{ price_id: await shop.price(900), quantity: 1 }];
  const buy = async () =>
    expect(await shop.post('/v1/checkout', { mode: 'payment', items, user_id: user, payment_method_id: attached.body.id })).toMatchObject({
      status: 201,
      body: { status: 'complete' },
    });
  await buy();
  expect((await statements(buy)).join(', ')).toBe(
    'select billing_price, lock billing_customer, select payment_method, ' +
      'insert payment_attempt, insert payment, insert checkout_session, insert audit_log, ' +
      'lock checkout_session, lock payment, lock billing_customer, lock payment_attempt, ' +
      'update payment_attempt, update payment, update checkout_session, with audit_log, ' +
      'select checkout_session, select payment, insert audit_log',
  );
});
