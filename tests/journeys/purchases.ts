import { randomUUID } from 'node:crypto';
import { BRAND, DEMO, type Answer, type TestPlatform } from '../support/platform.js';

/** Of payments' seed: the demo person's test card. */
const CARD = '0190b3a0-0000-7000-8000-0000000e0031';
const USD = (amount: number) => ({ amount, currency: 'USD' });

/** The demo user has bought a subscription, got a part of the money back, and begun to buy a gift. */
export async function purchaseJourney(p: Pick<TestPlatform, 'rest' | 'serviceToken'>): Promise<void> {
  const token = await p.serviceToken();
  const post = async (path: string, body: object): Promise<Answer['body']> => {
    const answer = await p.rest('POST', `/payments/v1${path}`, { token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const subject = { subject_kind: 'service', subject_id: randomUUID(), brand_id: BRAND };
  const recurring = { interval: 'month', interval_count: 1 };
  const price = await post('/admin/prices', { key: `journey-${randomUUID()}`, ...subject, unit_amount: USD(3_000), recurring });
  const items = [{ price_id: price.id, quantity: 1 }];
  const session = await post('/checkout', { mode: 'subscription', user_id: DEMO, items, payment_method_id: CARD });
  await post('/refunds', { payment_id: session.payment.id, amount: USD(500), reason: 'goodwill' });
  const recipient = { name: 'Somebody', email: 'somebody@example.com' };
  await post('/billing/gifts/checkout-session', {
    kind: 'credit',
    user_id: DEMO,
    value: USD(5_000),
    recipient,
    return_url: 'http://localhost:3000/done',
  });
}
