import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { Shop } from './shop.js';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open({ services: ['payments', 'accounting', 'affiliates', 'entitlements'] });
}, 400_000);

test('the timeline of a payment tells of ledger, commissions and access across services, and omits none that is there', async () => {
  const user = await shop.stranger();
  const { body } = await shop.buy(user, 5000);
  const access = { user_id: user, feature_key: 'labs.discount', allow: true, reason: 'A gift' };
  const token = await shop.p.serviceToken('admin:entitlements');
  expect(await shop.p.rest('POST', '/entitlements/v1/admin/overrides', { token, body: access })).toMatchObject({ status: 201 });
  const read = async () => (await shop.get(`/v1/payments/${body.payment.id}/timeline`)).body;
  const timeline = await until('the ledger', read, one => one.entries.some((entry: any) => entry.kind === 'ledger_posted'), 20_000);
  expect(timeline.omitted).toEqual([]);
  expect(timeline.entries).toEqual(expect.arrayContaining([expect.objectContaining({ source: 'entitlements', kind: 'access_given' })]));
});
