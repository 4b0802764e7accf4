import { expect, test } from 'vitest';
import { DEMO, platform } from '../support/platform.js';
import { until } from '../support/until.js';

test('a person joins, pays, is a member and may use what the tier gives; a second purchase in the brand is a 409', async () => {
  const p = await platform({ services: ['membership', 'payments', 'accounting', 'cash', 'entitlements'] });
  const scopes = ['manage:subscriptions', 'read:membership', 'read:payments', 'read:entitlements'];
  const token = await p.userToken(DEMO, scopes);
  const priced = await p.rest('GET', '/membership/v1/plans?include=prices');
  const plus = priced.body.data.find((plan: any) => plan.key === 'plus');
  expect(plus.prices.map((price: any) => [price.tier, price.unit_amount.amount, price.recurring.interval])).toEqual(
    expect.arrayContaining([['plus', 9_900, 'month']]),
  );
  const [method] = (await p.rest('GET', '/payments/v1/billing/payment-methods', { token })).body.data;
  const wanted = {
    plan_id: plus.id,
    tier_key: 'plus',
    interval: 'month',
    payment_method_id: method.id,
    return_url: 'https://main.example/done',
  };
  const join = (key: string) =>
    p.rest('POST', '/membership/v1/memberships/join', { token, body: wanted, headers: { 'idempotency-key': key } });
  const session = await join('first');
  expect(session, JSON.stringify(session.body)).toMatchObject({ status: 201, body: { status: 'complete', mode: 'subscription' } });
  const mine = () => p.rest('GET', '/membership/v1/memberships/me', { token });
  const member = await until('the membership', mine, answer => answer.status === 200);
  expect(member.body).toMatchObject({ status: 'active', tier: { key: 'plus' }, subscription_id: session.body.subscription.id });
  const check = () => p.rest('GET', '/entitlements/v1/entitlements/me/check/labs.discount', { token });
  await until('access', check, answer => answer.body.allowed === true);
  expect(await join('second')).toMatchObject({ status: 409 });
  const service = await p.serviceToken('admin:membership');
  const resync = await p.rest('POST', `/membership/v1/admin/resync/${DEMO}`, { token: service });
  expect(resync, JSON.stringify(resync.body)).toMatchObject({ status: 200, body: { differences: [] } });
});
