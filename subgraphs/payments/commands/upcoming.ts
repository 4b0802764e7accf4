import type { Context } from '../../../runtime/request/context.js';
import { type InvoicePreview, draftLines } from '../entities/billing-views.js';
import type { BillingSubscription } from '../entities/subscription.js';
import { brandTerms, type BrandTerms } from '../ports/brand-terms.js';
import { upcoming } from './notice.js';

/** Rates of a brand, asked once for each request; inside a transaction nobody can be asked, and the tax is left out. */
async function ratesOf(ctx: Context, brandId: string): Promise<Pick<BrandTerms, 'taxRates'>> {
  if (ctx.inTransaction) return { taxRates: {} };
  return (await ctx.load('brand.terms', brandId, keys => Promise.all(keys.map(id => brandTerms(ctx, id)))))!;
}

/** The next charge of a subscription as it is shown; null where none comes. */
export async function upcomingOf(ctx: Context, subscription: BillingSubscription): Promise<InvoicePreview | null> {
  const next = await upcoming(ctx, subscription, await ratesOf(ctx, subscription.brandId));
  if (!next) return null;
  const { currency, total, due, chargeAt, lines } = next;
  return { total: { amount: total, currency }, amountDue: { amount: due, currency }, chargeAt, lines: draftLines(lines, currency) };
}
