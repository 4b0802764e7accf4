import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
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
  const facts = await purchaseFacts(ctx, ctx.caller.clientId, userId);
  if (!facts.account) fail('not_found', 'No such user');
  return { account: facts.account, brand: brandAmong(facts, brandId ?? ctx.caller.brandId), redirectUris: facts.redirectUris };
}
