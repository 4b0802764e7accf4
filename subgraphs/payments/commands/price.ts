import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { BillingPrice } from '../entities/price.js';
import type { CreateBillingPriceInput, UpdateBillingPriceInput } from '../inputs/price.js';
import { priceViolations } from '../rules/price.js';

/** @throws Problem invalid_request for what does not go together, conflict for a key that the brand has used. */
export async function createPrice(ctx: Context, input: CreateBillingPriceInput): Promise<BillingPrice> {
  const { unitAmount, recurring, ...given } = input;
  const isVariant = given.subjectKind === PriceSubjectKind.PRODUCT_VARIANT;
  requireValid(priceViolations({ isVariant, amount: unitAmount.amount, recurring: recurring ?? null }));
  const price = Object.assign(new BillingPrice(), given, {
    brandId: given.brandId.toLowerCase(),
    subjectId: given.subjectId.toLowerCase(),
    tier: given.tier ?? null,
    unitAmountMinor: unitAmount.amount,
    currency: unitAmount.currency,
    interval: recurring?.interval ?? null,
    intervalCount: recurring?.intervalCount ?? null,
    createdAt: ctx.now(),
  });
  if (await ctx.em.findOne(BillingPrice, { brandId: price.brandId, key: price.key }))
    fail('conflict', 'The brand has a price with this key');
  ctx.em.persist(price);
  ctx.audit('price.created', price.id, { key: price.key, amount: price.unitAmountMinor, currency: price.currency });
  return price;
}

/** Whether it is sold, and for how long new buyers try it. @throws Problem not_found. */
export async function updatePrice(ctx: Context, { id, active, trialDays }: UpdateBillingPriceInput): Promise<BillingPrice> {
  const price = await lockRow(ctx, BillingPrice, { id });
  price.active = active ?? price.active;
  price.trialDays = trialDays ?? price.trialDays;
  price.version += 1;
  ctx.audit('price.updated', price.id, { active: price.active, trial_days: price.trialDays });
  return price;
}
