import { StripeProcessor } from '../../subgraphs/payments/ports/stripe/adapter.js';
import { call, charge, got, stripeSubject, type Subject } from './processors.js';

/** Stripe's own test mode, with the key of STRIPE_TEST_KEY; calls are signed by the double, because Stripe cannot reach a test. */
export async function testModeSubject(): Promise<Subject> {
  const double = await stripeSubject();
  const secretKey = process.env.STRIPE_TEST_KEY!;
  if (!secretKey.startsWith('sk_test_') && !secretKey.startsWith('rk_test_'))
    throw new Error('STRIPE_TEST_KEY must be a key of the test mode');
  const processor = new StripeProcessor({ secretKey });
  const hasty = new StripeProcessor({ secretKey, deadlineMs: 1 });
  return {
    ...double,
    processor,
    slow: async () => ({ result: await hasty.charge(charge('cus_x', 'pm_x'), call(`slow-${Date.now()}`)) }),
    dispute: async () => {
      const customer = await got(processor.ensureCustomer({ userId: 'u', brandId: 'b', email: null }, call(`c-${Date.now()}`)));
      const method = await got(
        processor.attachMethod({ customerId: customer.id, token: 'pm_card_createDispute' }, call(`m-${Date.now()}`)),
      );
      const { id } = await got(processor.charge(charge(customer.id, method.id), call(`d-${Date.now()}`)));
      return disputeOf(secretKey, id);
    },
    stop: async () => {
      await Promise.all([processor.close(), hasty.close(), double.stop()]);
    },
  };
}

/** The dispute that Stripe opens of a charge shortly after it. */
async function disputeOf(secretKey: string, intent: string): Promise<string> {
  for (let tries = 0; tries < 30; tries++) {
    const answer = await fetch(`https://api.stripe.com/v1/disputes?payment_intent=${intent}`, {
      headers: { authorization: `Bearer ${secretKey}` },
    });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    if (data[0]) return data[0].id;
    await new Promise(resolve => setTimeout(resolve, 1_000));
  }
  throw new Error('Stripe has opened no dispute');
}
