import { newId } from '../../runtime/data/ids.js';
import type { Context } from '../../runtime/request/context.js';
import { Affiliate, AffiliateLink } from './entities/affiliate.js';
import { AffiliateAttribution } from './entities/attribution.js';
import { AffiliateAttributionBasis, AffiliateStatus, CommissionKind, ReferralStage } from './entities/enums.js';
import { AffiliateProgram, CommissionTier } from './entities/program.js';
import { WinBackClaim } from './entities/win-back.js';
import { after, DAY_MS } from '../../runtime/time/durations.js';
import { monthsAfter } from './rules/arithmetic.js';

/** Fixed ids of conventions 8. */
const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const PROGRAM = '0190b3a0-0000-7000-8000-0000000af001';

const TIERS = [
  { key: 'silver', rank: 1, rateBps: 1_000, thresholdUnits: 0 },
  { key: 'gold', rank: 2, rateBps: 1_500, thresholdUnits: 500_000 },
];

/** Somebody without an account here, whom the demo user has brought. */
const CUSTOMER = '0190b3a0-0000-7000-8000-0000000afc01';
const MEMBERSHIP = '0190b3a0-0000-7000-8000-0000000afc02';

/** A customer who has lapsed, and may be won back. */
function plantCustomer(ctx: Context, affiliateId: string): void {
  const now = ctx.now();
  const times = { clickedAt: now, attributedAt: now, customerSince: now, boundUntil: monthsAfter(now, 12) };
  const about = { programId: PROGRAM, affiliateId, customerId: CUSTOMER, customerAlias: 'Customer 7F3K2Q' };
  const how = { stage: ReferralStage.CUSTOMER, basis: AffiliateAttributionBasis.CODE };
  const attribution = Object.assign(new AffiliateAttribution(), { ...about, ...how, ...times });
  const offer = { membershipId: MEMBERSHIP, offerKey: 'come_back_20', expiresAt: after(now, 30 * DAY_MS), createdAt: now };
  ctx.em.persist([attribution, Object.assign(new WinBackClaim(), { affiliateId, attributionId: attribution.id, ...offer })]);
}

/** Development data: one program of the brand, in which the demo user is an affiliate with a code, a link and a customer. */
export async function seed(ctx: Context): Promise<void> {
  const now = ctx.now();
  const terms = {
    id: PROGRAM,
    key: 'main',
    name: 'Friends of the house',
    brandId: BRAND,
    currency: 'USD',
    leastPayout: 1_000,
    createdAt: now,
  };
  const tiers = TIERS.map(tier =>
    Object.assign(new CommissionTier(), { id: newId(), programId: PROGRAM, kind: CommissionKind.PERCENT, ...tier }),
  );
  ctx.em.persist([Object.assign(new AffiliateProgram(), terms), ...tiers]);
  await ctx.em.flush();
  const about = { programId: PROGRAM, userId: DEMO, tierKey: 'silver', code: 'DEMO10', status: AffiliateStatus.APPROVED, createdAt: now };
  const affiliate = Object.assign(new Affiliate(), { ...about, changedAt: now, checkedAt: now });
  const link = { affiliateId: affiliate.id, slug: 'demo', target: 'https://main.example/', createdAt: now };
  await ctx.em.persist([affiliate, Object.assign(new AffiliateLink(), link)]).flush();
  plantCustomer(ctx, affiliate.id);
  await ctx.em.flush();
}
