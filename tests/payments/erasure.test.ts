import { beforeAll, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { prepareEvent } from '../../events/outbox.js';
import { newId } from '../../runtime/data/ids.js';
import type { TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { OfferShop } from './offers-fixture.js';

let p: TestPlatform;
let shop: OfferShop;
beforeAll(async () => {
  shop = await OfferShop.open();
  p = shop.p;
});

const meta = { source: 'identity', requestId: 'test', causationId: null, actor: 'system:identity', traceparent: null } as const;

/** The event of identity, as often as it comes. */
async function erase(userId: string, requestId: string): Promise<void> {
  const data = {
    request_id: requestId,
    scope: 'full' as const,
    requested_at: '2026-11-20T09:30:00.000Z',
    due_at: '2026-12-20T09:30:00.000Z',
  };
  const pending = prepareEvent(userErasureRequested, data, { userId }, meta);
  await p.sql(`set role platform_events; select events.append('${JSON.stringify([pending]).replaceAll("'", "''")}', null); reset role`);
}
const erasures = (userId: string): Promise<any[]> =>
  p.sql(`select details from payments.audit_log where action = 'user.erased' and target = $1`, [userId]);
const customerOf = async (userId: string): Promise<any> =>
  (await p.sql('select * from payments.billing_customer where user_id = $1', [userId]))[0];

test('25: erasure ends live subscriptions once, takes the methods, and leaves payments readable; a second delivery has no effect', async () => {
  const user = await shop.stranger();
  const items = [{ price_id: await shop.monthly(2900), quantity: 1 }];
  const bought = await shop.made('/v1/checkout', {
    mode: 'subscription',
    user_id: user,
    items,
    payment_method_token: 'pm_card_visa',
    metadata: { note: 'x' },
  });
  const before = await customerOf(user);
  expect(before.processor_customer_id).toBeTruthy();
  await p.sql(`update payments.billing_customer set email_sealed = '\\x01' where id = $1`, [before.id]);

  const requestId = newId();
  await erase(user, requestId);
  await until(
    'the erasure',
    () => erasures(user),
    rows => rows.length === 1,
  );
  await erase(user, requestId);
  await until(
    'the processor',
    () => customerOf(user),
    row => row.processor_customer_id === null,
  );

  expect((await shop.get(`/v1/subscriptions/${bought.subscription.id}`)).body).toMatchObject({
    status: 'cancelled',
    cancel_reason: 'account_erased',
  });
  expect(await shop.events('subscription.cancelled.v1', user)).toMatchObject([{ reason: 'account_erased', involuntary: true }]);
  expect((await shop.get(`/v1/billing/payment-methods?user_id=${user}`)).body.data).toEqual([]);
  expect((await shop.get(`/v1/payments/${bought.payment.id}`)).body).toMatchObject({
    status: 'succeeded',
    method_summary: null,
    metadata: {},
  });
  expect(await customerOf(user)).toMatchObject({ email_sealed: null });
  const [left] = await p.sql(
    `select count(*)::int as n from payments.payment_method where user_id = $1
       and (token_sealed is not null or fingerprint is not null or card_last4 is not null or billing_address_sealed is not null)`,
    [user],
  );
  expect(left.n).toBe(0);
  expect(
    await p.sql(`select 1 from payments.processor_object where kind = 'customer' and id = $1`, [before.processor_customer_id]),
  ).toEqual([]);
  expect((await erasures(user))[0].details).toMatchObject({
    outcome: 'retained',
    basis: 'tax and accounting records',
    records: { subscription_ended: 1 },
  });
});

test('what a gift says of its recipient goes with its purchaser, and its code stays good', async () => {
  const user = await shop.stranger();
  const token = await shop.buyer(user);
  const body = {
    kind: 'credit',
    value: { amount: 1000, currency: 'USD' },
    recipient: { name: 'Sam', email: 'sam@example.test' },
    message: 'Hi',
    return_url: 'http://localhost:5174/',
  };
  const session = await shop.made(
    '/v1/billing/gifts/checkout-session',
    { ...body, payment_method_id: await shop.method('pm_card_visa', user) },
    token,
  );
  await erase(user, newId());
  await until(
    'the erasure',
    () => erasures(user),
    rows => rows.length === 1,
  );
  const [gift] = await p.sql('select g.* from payments.gift g join payments.gift_checkout_session s on s.gift_id = g.id where s.id = $1', [
    session.id,
  ]);
  expect(gift).toMatchObject({
    status: 'delivered',
    recipient_name_sealed: null,
    recipient_email_sealed: null,
    message_sealed: null,
    code_sealed: null,
  });
  expect(gift.code_hash).not.toBeNull();
});

test('evidence of an open dispute is kept until it is closed', async () => {
  const user = await shop.stranger();
  const { body } = await shop.buy(user, 5000);
  const id = newId();
  await p.sql(
    `insert into payments.dispute (id, payment_id, user_id, processor, processor_dispute_id, amount, currency, status, reason, evidence_sealed, opened_at, listed_at, created_at)
     values ($1, $2, $3, 'sandbox', $4, 5000, 'USD', 'under_review', 'general', '\\x01', now(), now(), now())`,
    [id, body.payment.id, user, `dp_${id}`],
  );
  await erase(user, newId());
  await until(
    'the erasure',
    () => erasures(user),
    rows => rows.length === 1,
  );
  const evidence = async (): Promise<unknown> =>
    (await p.sql('select evidence_sealed from payments.dispute where id = $1', [id]))[0].evidence_sealed;
  expect(await evidence()).not.toBeNull();
  await p.sql(`update payments.dispute set status = 'won', closed_at = now() where id = $1`, [id]);
  await p.clock('payments', { advance: 'PT1M' });
  expect(await evidence()).toBeNull();
});

test('who has bought nothing leaves nothing', async () => {
  const user = await shop.stranger();
  await erase(user, newId());
  await until(
    'the erasure',
    () => erasures(user),
    rows => rows.length === 1,
  );
  expect((await erasures(user))[0].details).toMatchObject({ outcome: 'nothing_held' });
});
