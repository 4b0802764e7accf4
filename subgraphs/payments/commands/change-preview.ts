import type { Context } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { draftLines, type InvoicePreview } from '../entities/billing-views.js';
import type { SubscriptionChangePreview } from '../entities/change-preview.js';
import type { BillingSubscription } from '../entities/subscription.js';
import { BillingEffective, BillingProration, type PreviewSubscriptionChangeInput } from '../inputs/subscription.js';
import { brandTerms } from '../ports/brand-terms.js';
import { totalsOf } from '../rules/invoice.js';
import { requireOwn } from './own-subscription.js';
import { PREVIEW_MS, previewToken } from './preview-token.js';
import { planChange, requireSamePlan, type PlannedChange, type Wanted } from './subscription-change.js';
import { priceOf } from './subscription-state.js';

const money = (amount: number, currency: string) => ({ amount, currency });

function invoiceOf({ lines, to: { currency }, effectiveAt }: PlannedChange): InvoicePreview | null {
  if (lines.length === 0) return null;
  const total = money(totalsOf(lines).total, currency);
  return { total, amountDue: total, chargeAt: effectiveAt, lines: draftLines(lines, currency) };
}

type Consequences = Omit<SubscriptionChangePreview, 'token' | 'expiresAt'>;

/** The end of a subscription; nothing is charged, and nothing goes back. */
async function endOf(ctx: Context, subscription: BillingSubscription, at: BillingEffective): Promise<Consequences> {
  const effectiveAt = at === BillingEffective.NOW ? ctx.now() : subscription.currentPeriodEnd;
  const { currency } = await priceOf(ctx, subscription);
  const tiers = { fromTier: subscription.tier, toTier: null };
  return { effectiveAt, direction: null, invoice: null, toCredit: money(0, currency), accessEndsAt: effectiveAt, ...tiers };
}

async function changeOf(ctx: Context, subscription: BillingSubscription, wanted: Wanted): Promise<Consequences> {
  const plan = await planChange(ctx, subscription, wanted, await brandTerms(ctx, subscription.brandId), ctx.now());
  const accessEndsAt = subscription.cancelAtPeriodEnd ? subscription.currentPeriodEnd : null;
  const toCredit = money(plan?.toCredit ?? 0, wanted.price.currency);
  const tiers = { fromTier: subscription.tier, toTier: wanted.price.tier };
  const [effectiveAt, direction] = [plan?.effectiveAt ?? ctx.now(), plan?.direction ?? null];
  return { effectiveAt, direction, invoice: plan && invoiceOf(plan), toCredit, accessEndsAt, ...tiers };
}

/** What a change or an end would do; nothing is written. @throws Problem not_found, invalid_request. */
export async function previewChange(ctx: Context, input: PreviewSubscriptionChangeInput): Promise<SubscriptionChangePreview> {
  const subscription = await requireOwn(ctx, input.id);
  const from = await priceOf(ctx, subscription);
  const wanted: Wanted = {
    price:
      input.priceId == null || input.priceId.toLowerCase() === from.id
        ? from
        : await requireSamePlan(ctx, subscription, from, input.priceId),
    quantity: input.quantity ?? subscription.quantity,
    effective: input.effective ?? null,
    isProrated: input.proration !== BillingProration.NONE,
    offSession: false,
  };
  const consequences = input.cancelAt ? await endOf(ctx, subscription, input.cancelAt) : await changeOf(ctx, subscription, wanted);
  return { ...consequences, token: previewToken(ctx, subscription, wanted), expiresAt: after(ctx.now(), PREVIEW_MS) };
}
