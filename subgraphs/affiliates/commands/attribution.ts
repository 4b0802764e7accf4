import { newId } from '../../../runtime/data/ids.js';
import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { Affiliate } from '../entities/affiliate.js';
import { AffiliateAttribution, AttributionClaim, ClaimWindow, type AttributionClaimReceipt } from '../entities/attribution.js';
import { AffiliateAttributionBasis, ReferralStage } from '../entities/enums.js';
import { AffiliateProgram } from '../entities/program.js';
import type { AttributeCustomerInput, ClaimAttributionInput } from '../inputs/attribution.js';
import { clickOf, type Click } from '../ports/click-tokens.js';
import { isLive } from '../rules/affiliates.js';
import { isInTime, wins } from '../rules/attribution.js';

const { LINK, CODE, MANUAL } = AffiliateAttributionBasis;
const { LEAD, CUSTOMER } = ReferralStage;

/** Where a customer came from. */
interface Origin {
  clickId: string | null;
  linkId: string | null;
  clickedAt: Date;
}

/** A pseudonym that nothing leads back from: drawn, not computed. */
const newAlias = (): string => `Customer ${newId().slice(-6).toUpperCase()}`;

/** Makes a live attribution: a lead's. */
export function newAttribution(
  ctx: Context,
  { id: affiliateId, programId }: Affiliate,
  customerId: string,
  basis: AffiliateAttributionBasis,
  origin: Origin,
): AffiliateAttribution {
  const about = { programId, affiliateId, customerId, customerAlias: newAlias(), stage: LEAD, basis };
  const attribution = Object.assign(new AffiliateAttribution(), { ...about, ...origin, attributedAt: ctx.now() });
  ctx.em.persist(attribution);
  ctx.audit('attribution.made', attribution.id, { affiliate: affiliateId, basis });
  return attribution;
}

/** One customer's attributions are decided one after the other. */
const lockCustomer = (ctx: Context, customerId: string): Promise<unknown> =>
  ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`affiliates.customer ${customerId}`]);

const liveOf = (ctx: Context, programId: string, customerId: string): Promise<AffiliateAttribution | null> =>
  ctx.em.findOne(AffiliateAttribution, { programId, customerId, endedAt: null }, { refresh: true });

/** Lets a lead be somebody else's from now on; the same row, so that there is one for each program. */
function rebind(
  ctx: Context,
  attribution: AffiliateAttribution,
  affiliate: Affiliate,
  basis: AffiliateAttributionBasis,
  origin: Origin,
): void {
  Object.assign(attribution, { affiliateId: affiliate.id, basis, ...origin, customerAlias: newAlias(), attributedAt: ctx.now() });
  ctx.audit('attribution.changed', attribution.id, { affiliate: affiliate.id, basis });
}

const countLead = (ctx: Context, linkId: string | null): Promise<unknown> | null =>
  linkId === null ? null : ctx.sql('update affiliates.affiliate_link set leads = leads + 1 where id = $1', [linkId]);

/** What a claim has: nothing where it is too late, or the user is bound already. */
async function settleClaim(ctx: Context, claim: AttributionClaim, signedUpAt: Date): Promise<void> {
  const affiliate = await ctx.em.findOne(Affiliate, { id: claim.affiliateId });
  if (!affiliate || !isLive(affiliate.status)) return;
  const program = await ctx.em.findOneOrFail(AffiliateProgram, { id: affiliate.programId });
  if (!program.active || !isInTime(claim, signedUpAt, program.windowDays)) return;
  const { clickId, linkId, clickedAt, basis, userId } = claim;
  const origin = { clickId, linkId, clickedAt };
  const before = await liveOf(ctx, program.id, userId);
  if (before && (before.stage === CUSTOMER || before.basis === MANUAL || !wins(program.model, clickedAt, before.clickedAt))) return;
  if (before) rebind(ctx, before, affiliate, basis, origin);
  else newAttribution(ctx, affiliate, userId, basis, origin);
  await countLead(ctx, linkId);
  await ctx.em.flush();
}

/** A claim's click, verified before the transaction. */
export const claimedClick = preparation((ctx, { input }: { input: ClaimAttributionInput }): Promise<Click | null> =>
  ctx.host.read(async own => (input.token == null ? null : clickOf(own.host, input.token, own.now()))),
);

/** Whose a claim is: of a token that was signed for the program of its affiliate, else of a code. */
async function claimOf(ctx: Context, userId: string, { code }: ClaimAttributionInput): Promise<AttributionClaim | null> {
  const click = claimedClick.of(ctx);
  const where = click ? { id: click.affiliateId, programId: click.programId } : code ? { code: code.toUpperCase() } : null;
  const affiliate = where && (await ctx.em.findOne(Affiliate, where));
  if (!affiliate || affiliate.userId === userId) return null;
  const origin = click
    ? { basis: LINK, clickId: click.id, linkId: click.linkId, clickedAt: click.at }
    : { basis: CODE, clickedAt: ctx.now() };
  return Object.assign(new AttributionClaim(), { id: newId(), userId, affiliateId: affiliate.id, ...origin, claimedAt: ctx.now() });
}

/** Takes a claim of the caller; it is settled now, or once the sign-up is heard of. What became of it is not told. */
export async function claimAttribution(ctx: Context, input: ClaimAttributionInput): Promise<AttributionClaimReceipt> {
  const userId = ctx.caller.userId!;
  const claim = await claimOf(ctx, userId, input);
  if (claim) {
    await lockCustomer(ctx, userId);
    const window = await ctx.em.findOne(ClaimWindow, { userId });
    if (window) await settleClaim(ctx, claim, window.openedAt);
    else ctx.em.persist(claim);
  }
  return { accepted: true };
}

/** A sign-up opens the 24 hours for claims, and settles those that came before it was heard of. */
export async function openWindow(ctx: Context, userId: string, signedUpAt: Date): Promise<void> {
  await lockCustomer(ctx, userId);
  await ctx.sql('insert into affiliates.claim_window (user_id, opened_at) values ($1, $2) on conflict do nothing', [
    userId,
    signedUpAt.toISOString(),
  ]);
  const claims = await ctx.em.find(AttributionClaim, { userId }, { orderBy: { claimedAt: 'asc', id: 'asc' } });
  for (const claim of claims) await settleClaim(ctx, claim, signedUpAt);
  await ctx.em.nativeDelete(AttributionClaim, { userId });
}

/** Attributes a customer by hand. @throws Problem conflict for one who has bought already. */
export async function attributeCustomer(ctx: Context, { affiliateId, userId }: AttributeCustomerInput): Promise<AffiliateAttribution> {
  const [affiliate, customerId] = [await requireRow(ctx, Affiliate, { id: affiliateId }), userId.toLowerCase()];
  if (!isLive(affiliate.status)) fail('conflict', `an affiliate that is ${affiliate.status} gets no customers`);
  await lockCustomer(ctx, customerId);
  const origin = { clickId: null, linkId: null, clickedAt: ctx.now() };
  const before = await liveOf(ctx, affiliate.programId, customerId);
  if (!before) return newAttribution(ctx, affiliate, customerId, MANUAL, origin);
  if (before.stage === CUSTOMER) fail('conflict', 'a customer stays with who brought it', { reason: 'bound' });
  rebind(ctx, before, affiliate, MANUAL, origin);
  return before;
}

/** How long what is not needed is kept. */
const CLICK_DAYS = 90;
const CLAIM_DAYS = 2;

/** Deletes clicks of more than 90 days, and windows and claims that are over. */
export async function forgetOld(ctx: Context): Promise<void> {
  const before = (days: number): string => after(ctx.now(), -days * DAY_MS).toISOString();
  await ctx.sql('delete from affiliates.click where at < $1', [before(CLICK_DAYS)]);
  await ctx.sql('delete from affiliates.claim_window where opened_at < $1', [before(CLAIM_DAYS)]);
  await ctx.sql('delete from affiliates.attribution_claim where claimed_at < $1', [before(CLAIM_DAYS)]);
}
