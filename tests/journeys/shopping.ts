import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../../runtime/time/durations.js';
import { DEMO, type Answer, type TestPlatform } from '../support/platform.js';

/** Of payments' seed: the demo person's test card. Of commerce's seed: a variant of 19.99. */
const CARD = '0190b3a0-0000-7000-8000-0000000e0031';
const OMEGA = '0190b3a0-0000-7000-8000-000000ce0001';
const ADDRESS = { line1: '1 Main Street', city: 'Los Angeles', region: 'CA', postal_code: '90001', country_code: 'US' };

/** The demo user has ordered something, has a cart with more, gets it every month, and waits for what is not in stock. */
export async function shoppingJourney(p: Pick<TestPlatform, 'rest' | 'serviceToken' | 'userToken'>): Promise<void> {
  const service = await p.serviceToken();
  const post = async (path: string, body: object, token = service): Promise<Answer['body']> => {
    const answer = await p.rest('POST', `/commerce/v1${path}`, { token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const items = [{ variant_id: OMEGA, quantity: 1 }];
  const { cart } = await post('/carts', { user_id: DEMO, items });
  await post(`/carts/${cart.id}/checkout`, { shipping_address: ADDRESS, recipient_name: 'A Buyer', payment_method_id: CARD });
  await post('/carts', { user_id: DEMO, items });
  const delivery = { shipping_address: ADDRESS, recipient_name: 'A Buyer', payment_method_id: CARD };
  const first_order_on = new Date(Date.now() + 60 * DAY_MS).toISOString().slice(0, 10);
  await post('/subscriptions', { user_id: DEMO, items, cadence: { unit: 'month', count: 1 }, first_order_on, ...delivery });
  const sku = `J-${randomUUID().slice(0, 8)}`;
  const made = await post('/admin/products', { slug: sku.toLowerCase(), title: sku, status: 'active', variants: [{ sku }] });
  await post('/stock-notices', { variant_id: made.variants[0].id }, await p.userToken(DEMO, ['read:account']));
}
