import type { DataOf } from '../../../events/define.js';
import type { membershipLapsed, membershipReactivated, winBackStarted } from '../../../events/catalogue/membership.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { Affiliate } from '../entities/affiliate.js';
import { AffiliateAttribution } from '../entities/attribution.js';
import { AffiliateStatus, ReferralStage, WinBackClaimStatus } from '../entities/enums.js';
import { AffiliateProgram } from '../entities/program.js';
import { WinBackClaim } from '../entities/win-back.js';
import { claimStateAt } from '../rules/win-back.js';

const { CONVERTED, EXPIRED, OFFERED, SENT } = WinBackClaimStatus;
const OPEN = { state: { $in: [OFFERED, SENT] } };

/** Programs of a brand: what happens to a member of one brand is no business of another's affiliates. */
const programsIn = async (ctx: Context, brandId: string): Promise<string[]> =>
  (await ctx.em.find(AffiliateProgram, { brandId }, { fields: ['id'] })).map(({ id }) => id);

/** A campaign for a lapsed member is offered to whom the customer is bound. */
export async function offerClaims(ctx: Context, customerId: string, data: DataOf<typeof winBackStarted>): Promise<void> {
  const programs = await programsIn(ctx, data.brand_id);
  const bound = await ctx.em.find(AffiliateAttribution, {
    customerId,
    programId: { $in: programs },
    endedAt: null,
    stage: ReferralStage.CUSTOMER,
  });
  const approved = await ctx.em.find(Affiliate, { id: { $in: bound.map(one => one.affiliateId) }, status: AffiliateStatus.APPROVED });
  const attribution = bound.find(one => approved.some(({ id }) => id === one.affiliateId));
  if (!attribution) return;
  await ctx.sql(
    `insert into affiliates.win_back_claim (id, affiliate_id, attribution_id, membership_id, status, offer_key, expires_at, created_at)
     values ($1, $2, $3, $4, 'offered', $5, $6, $7) on conflict do nothing`,
    [newId(), attribution.affiliateId, attribution.id, data.membership_id, data.offer_key, data.ends_at, ctx.now().toISOString()],
  );
}

/** Open claims that concern a customer in a brand: who comes back has a new membership, so they are not found by that. */
async function openClaims(ctx: Context, customerId: string, brandId: string) {
  const bound = await ctx.em.find(AffiliateAttribution, { customerId, programId: { $in: await programsIn(ctx, brandId) } });
  return { attributionId: { $in: bound.map(({ id }) => id) }, ...OPEN };
}

/** A member who lapses anew ends the claims of an earlier campaign. */
export async function endClaims(ctx: Context, customerId: string, data: DataOf<typeof membershipLapsed>): Promise<void> {
  const open = await openClaims(ctx, customerId, data.brand_id);
  await ctx.em.nativeUpdate(WinBackClaim, { ...open, membershipId: { $ne: data.membership_id } }, { state: EXPIRED });
}

/** A member who had left and is back converts what is open, if its time is not over. */
export async function convertClaims(ctx: Context, customerId: string, data: DataOf<typeof membershipReactivated>): Promise<void> {
  if (data.from !== 'lapsed') return;
  const open = await openClaims(ctx, customerId, data.brand_id);
  await ctx.em.nativeUpdate(WinBackClaim, { ...open, expiresAt: { $gt: ctx.now() } }, { state: CONVERTED });
}

/** Has the customer written to, once; the affiliate learns no address. @throws Problem conflict for a claim that was sent or is over. */
export async function sendWinBack(ctx: Context, id: string): Promise<WinBackClaim> {
  const own = await ctx.em.find(Affiliate, { userId: ctx.caller.userId!, status: AffiliateStatus.APPROVED });
  const claim = await lockRow(ctx, WinBackClaim, { id, affiliateId: { $in: own.map(one => one.id) } });
  const state = claimStateAt(claim, ctx.now());
  if (state !== OFFERED) fail('conflict', `a win-back claim that is ${state} cannot be sent`);
  claim.state = SENT;
  const { customerId } = await ctx.em.findOneOrFail(AffiliateAttribution, { id: claim.attributionId });
  const message = {
    template: 'affiliate_win_back',
    params: { offer_key: claim.offerKey, claim_id: claim.id },
    dedupeKey: `affiliate_win_back:${claim.id}`,
  };
  requestMessage(ctx, { userId: customerId }, { ...message, category: 'marketing' });
  ctx.audit('win_back_claim.sent', claim.id, { affiliate: claim.affiliateId });
  return claim;
}
