import type { Context } from '../../runtime/request/context.js';
import { PriceSubjectKind } from '../../runtime/schema/price-subjects.js';
import { BillingCustomer } from './entities/customer.js';
import { BillingInterval } from './entities/enums-billing.js';
import { PromoDuration, PromoKind, PromoStatus } from './entities/enums-offers.js';
import { PaymentMethodType, PaymentProcessor } from './entities/enums-payment.js';
import { PaymentMethod } from './entities/payment-method.js';
import { BillingPrice } from './entities/price.js';
import { Promo } from './entities/promo.js';
import { ProcessorObject } from './entities/processor-event.js';
import { sealed } from './entities/sealed.js';
import { fingerprintOf } from './commands/payment-method.js';
import { cardFingerprint } from './ports/sandbox/customers.js';
import { idOf } from './ports/sandbox/store.js';

const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';

/** Membership's two seeded plans. */
const [BASIC, PLUS] = ['0190b3a0-0000-7000-8000-0000000d0001', '0190b3a0-0000-7000-8000-0000000d0002'];
const { MONTH, YEAR } = BillingInterval;

/** Fixed ids, so that the README can name them; amounts in cents. */
const PRICES = [
  ['0190b3a0-0000-7000-8000-0000000e0001', 'basic-monthly', BASIC, 'basic', 2900, MONTH],
  ['0190b3a0-0000-7000-8000-0000000e0002', 'basic-yearly', BASIC, 'basic', 29_000, YEAR],
  ['0190b3a0-0000-7000-8000-0000000e0003', 'plus-monthly', PLUS, 'plus', 9900, MONTH],
  ['0190b3a0-0000-7000-8000-0000000e0004', 'plus-yearly', PLUS, 'plus', 99_000, YEAR],
] as const;

const price = (ctx: Context, [id, key, subjectId, tier, unitAmountMinor, interval]: (typeof PRICES)[number]): BillingPrice =>
  Object.assign(new BillingPrice(), {
    id,
    key,
    subjectId,
    tier,
    unitAmountMinor,
    interval,
    intervalCount: 1,
    brandId: BRAND,
    subjectKind: PriceSubjectKind.MEMBERSHIP_PLAN,
    currency: 'USD',
    createdAt: ctx.now(),
  });

const promo = (ctx: Context): Promo =>
  Object.assign(new Promo(), {
    id: '0190b3a0-0000-7000-8000-0000000e0011',
    brandId: BRAND,
    code: 'SPRING20',
    name: 'Spring',
    kind: PromoKind.PERCENT,
    percentBps: 2000,
    duration: PromoDuration.ONCE,
    status: PromoStatus.ACTIVE,
    createdAt: ctx.now(),
  });

/** Test card of the sandbox. */
const CARD = 'pm_card_visa';
/** Ids as the sandbox makes them, so that it finds the same ones again. */
const CUSTOMER_REF = idOf('cus', `${DEMO}:${BRAND}`);
const METHOD_REF = idOf('pm', `${CUSTOMER_REF}:${CARD}:0`);

const customer = (ctx: Context): BillingCustomer =>
  Object.assign(new BillingCustomer(), {
    id: '0190b3a0-0000-7000-8000-0000000e0021',
    userId: DEMO,
    brandId: BRAND,
    processor: PaymentProcessor.SANDBOX,
    processorRef: CUSTOMER_REF,
    currency: 'USD',
    createdAt: ctx.now(),
  });

function method(ctx: Context, { id: customerId }: BillingCustomer): PaymentMethod {
  const card = { cardBrand: 'visa', cardLast4: '4242', cardExpMonth: 12, cardExpYear: 2040, cardFunding: 'credit', cardCountry: 'US' };
  const one = Object.assign(new PaymentMethod(), card, {
    id: '0190b3a0-0000-7000-8000-0000000e0031',
    customerId,
    userId: DEMO,
    type: PaymentMethodType.CARD,
    isDefault: true,
    createdAt: ctx.now(),
  });
  one.tokenSealed = sealed(ctx, METHOD_REF, 'payment_method_token', one.id);
  one.fingerprint = fingerprintOf(ctx.host, cardFingerprint(CARD));
  return one;
}

/** What the sandbox knows of them. */
function known(ctx: Context, kind: string, id: string, parentId: string | null, data: object): ProcessorObject {
  return Object.assign(new ProcessorObject(), { kind, id, parentId, data, createdAt: ctx.now(), updatedAt: ctx.now() });
}

/** A shop to try: prices of two plans, a promo, and somebody with a test card. Source: payments 8. */
export async function seed(ctx: Context): Promise<void> {
  const demo = customer(ctx);
  await ctx.em.persist([...PRICES.map(one => price(ctx, one)), promo(ctx), demo]).flush();
  const card = { token: CARD, customerId: CUSTOMER_REF, isDetached: false, charges: 0 };
  const objects = [known(ctx, 'customer', CUSTOMER_REF, null, {}), known(ctx, 'method', METHOD_REF, CUSTOMER_REF, card)];
  await ctx.em.persist([method(ctx, demo), ...objects]).flush();
}
