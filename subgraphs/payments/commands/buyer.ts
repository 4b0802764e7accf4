import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { brandTerms, termsFrom, type BrandTerms } from '../ports/brand-terms.js';
import { purchaseFacts, type Account, type Brand, type PurchaseFacts } from '../ports/purchase-facts.js';

/** Who buys, where. */
export interface BuyerFacts {
  account: Account;
  brand: Brand;
  redirectUris: readonly string[];
}

/** The brand that is meant: the named one, else the token's, else the account's, else the platform's default. */
function brandAmong({ brands, account }: PurchaseFacts, named: string | null): Brand {
  const wanted = named ?? account?.brandId ?? null;
  const found = brands.find(brand => (wanted === null ? brand.isDefault : brand.id === wanted)) ?? brands.find(brand => brand.isDefault);
  return found ?? fail('unavailable', 'No brand is set up', { retryAfter: 60 });
}

/** Asks platform and identity about a purchase; outside transactions. @throws Problem not_found for an unknown person; unavailable. */
export async function buyerFacts(ctx: Context, userId: string, brandId: string | null): Promise<BuyerFacts> {
  return buyerIn(ctx, await purchaseFacts(ctx, { clientId: ctx.caller.clientId, userId, places: true }), brandId);
}

function buyerIn({ caller }: Context, facts: PurchaseFacts, brandId: string | null): BuyerFacts {
  if (!facts.account) fail('not_found', 'No such user');
  return { account: facts.account, brand: brandAmong(facts, brandId ?? caller.brandId), redirectUris: facts.redirectUris };
}

interface Purchase {
  userId: string;
  brandId: string | null;
  /** Whether the buyer is led somewhere. */
  places: boolean;
}

/** The same with what the brand's invoices say: asked for at once where the brand is known, else afterwards. */
export async function buyerTerms(ctx: Context, { userId, brandId, places }: Purchase): Promise<BuyerFacts & { terms: BrandTerms }> {
  const facts = await purchaseFacts(ctx, { clientId: ctx.caller.clientId, userId, places, settingsOf: brandId });
  const buyer = buyerIn(ctx, facts, brandId);
  const isAsked = facts.settings !== null && buyer.brand.id === brandId;
  return { ...buyer, terms: isAsked ? termsFrom(ctx, buyer.brand, facts.settings!) : await brandTerms(ctx, buyer.brand.id) };
}
