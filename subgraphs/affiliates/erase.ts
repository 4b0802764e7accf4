import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import type { Context } from '../../runtime/request/context.js';
import { close } from './commands/affiliate.js';
import { Affiliate, AffiliateClick } from './entities/affiliate.js';
import { AffiliateAttribution, AttributionClaim, ClaimWindow } from './entities/attribution.js';
import { AffiliateStatus } from './entities/enums.js';

/** Why amounts stay. */
const BASIS = 'Accounting records of commissions and payouts';
/** Stands for every pseudonym that was destroyed. */
const ERASED = 'Erased customer';

/** As a customer: pseudonyms, hashes and bindings end, amounts stay. As an affiliate: closed, with a last payout. Source: affiliates 5. */
export async function erase(ctx: Context, { userId: id, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const userId = id.toLowerCase();
  const claims = await ctx.em.nativeDelete(AttributionClaim, { userId });
  const windows = await ctx.em.nativeDelete(ClaimWindow, { userId });
  const attributions = await ctx.em.find(AffiliateAttribution, { customerId: userId });
  await forgetClicks(ctx, attributions);
  for (const one of attributions) Object.assign(one, { customerAlias: ERASED, clickId: null, endedAt: one.endedAt ?? ctx.now() });
  const own = await ctx.em.find(Affiliate, { userId });
  for (const one of own) if (one.status !== AffiliateStatus.CLOSED && one.status !== AffiliateStatus.REJECTED) await close(ctx, one.id);
  const records = { attribution_claim: claims, claim_window: windows, attribution: attributions.length, affiliate: own.length };
  if (attributions.length + own.length > 0) return { outcome: 'retained', records, basis: BASIS };
  return { outcome: claims + windows > 0 ? 'erased' : 'nothing_held', records };
}

async function forgetClicks(ctx: Context, attributions: readonly AffiliateAttribution[]): Promise<void> {
  const ids = attributions.flatMap(({ clickId }) => clickId ?? []);
  if (ids.length > 0) await ctx.em.nativeUpdate(AffiliateClick, { id: { $in: ids } }, { visitorHash: null });
}
