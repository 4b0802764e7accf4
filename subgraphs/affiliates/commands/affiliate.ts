import { randomInt } from 'node:crypto';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { Affiliate, AffiliateLink } from '../entities/affiliate.js';
import { AffiliateAction, AffiliateStatus } from '../entities/enums.js';
import { AffiliateProgram, CommissionTier } from '../entities/program.js';
import type { ApplyAsAffiliateInput, CreateAffiliateLinkInput, UpdateAffiliateInput, UpdateMyAffiliateInput } from '../inputs/affiliate.js';
import { AFFILIATE_STATES, isLive, isOnHosts } from '../rules/affiliates.js';
import { brandHosts } from './program.js';

/** Without what is read as something else. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

const drawn = (length: number): string => Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('');

const hostsOf = (ctx: Context, { brandId }: AffiliateProgram): readonly string[] => brandHosts.of(ctx).get(brandId) ?? [];

function addLink(ctx: Context, affiliateId: string, target: string): AffiliateLink {
  const link = Object.assign(new AffiliateLink(), { affiliateId, target, slug: drawn(8).toLowerCase(), createdAt: ctx.now() });
  ctx.em.persist(link);
  return link;
}

/** The first link leads to the brand; one without a verified host has none yet. */
function approve(ctx: Context, affiliate: Affiliate, program: AffiliateProgram): void {
  const [host] = hostsOf(ctx, program);
  if (host) addLink(ctx, affiliate.id, `https://${host}/`);
}

/** The caller applies to a program, once. */
export async function apply(ctx: Context, { programId }: ApplyAsAffiliateInput): Promise<Affiliate> {
  const program = await requireRow(ctx, AffiliateProgram, { id: programId, active: true });
  const userId = ctx.caller.userId!;
  if (await ctx.em.count(Affiliate, { programId: program.id, userId }))
    fail('conflict', 'You have applied to this program', { reason: 'applied' });
  const tiers = await ctx.em.find(CommissionTier, { programId: program.id }, { orderBy: { rank: 'asc' }, limit: 1 });
  const about = { programId: program.id, userId, tierKey: tiers[0]!.key, code: drawn(8), createdAt: ctx.now(), changedAt: ctx.now() };
  const affiliate = Object.assign(new Affiliate(), { id: newId(), ...about });
  ctx.em.persist(affiliate);
  if (program.selfApproval) {
    affiliate.status = AffiliateStatus.APPROVED;
    approve(ctx, affiliate, program);
  }
  ctx.audit('affiliate.applied', affiliate.id, { program: program.id, status: affiliate.status });
  return affiliate;
}

/** Of the caller; where no program is named the oldest. @throws Problem not_found. */
export async function ownAffiliate(ctx: Context, programId: string | null | undefined): Promise<Affiliate> {
  const where = { userId: ctx.caller.userId!, ...(programId && { programId: programId.toLowerCase() }) };
  const [own] = await ctx.em.find(Affiliate, where, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 1 });
  return own ?? fail('not_found', 'Not found');
}

/** A code is a word in capitals that nobody has. @throws Problem conflict. */
async function takeCode(ctx: Context, affiliate: Affiliate, wanted: string): Promise<void> {
  const code = wanted.toUpperCase();
  if (code === affiliate.code) return;
  if (await ctx.em.count(Affiliate, { code })) fail('conflict', 'The code is taken', { reason: 'code_taken' });
  affiliate.code = code;
}

export async function updateOwn(ctx: Context, { programId, code, version }: UpdateMyAffiliateInput): Promise<Affiliate> {
  const affiliate = await lockRow(ctx, Affiliate, { id: (await ownAffiliate(ctx, programId)).id });
  requireVersion(affiliate, version);
  if (!isLive(affiliate.status)) fail('conflict', `an affiliate that is ${affiliate.status} cannot be changed`);
  await takeCode(ctx, affiliate, code);
  affiliate.version += 1;
  ctx.audit('affiliate.updated', affiliate.id);
  return affiliate;
}

export async function updateAffiliate(ctx: Context, { id, code, tierKey, version }: UpdateAffiliateInput): Promise<Affiliate> {
  const affiliate = await lockRow(ctx, Affiliate, { id });
  requireVersion(affiliate, version);
  if (code != null) await takeCode(ctx, affiliate, code);
  if (tierKey != null && !(await ctx.em.count(CommissionTier, { programId: affiliate.programId, key: tierKey })))
    invalid('/input/tierKey', 'is no tier of the program');
  affiliate.tierKey = tierKey ?? affiliate.tierKey;
  affiliate.version += 1;
  ctx.audit('affiliate.updated', affiliate.id, { tier: affiliate.tierKey });
  return affiliate;
}

const TRIGGERS = {
  [AffiliateAction.APPROVE]: 'approve',
  [AffiliateAction.REJECT]: 'reject',
  [AffiliateAction.SUSPEND]: 'suspend',
  [AffiliateAction.RESTORE]: 'restore',
} as const;

export async function transition(ctx: Context, id: string, action: AffiliateAction): Promise<Affiliate> {
  const affiliate = await lockRow(ctx, Affiliate, { id });
  affiliate.status = move(AFFILIATE_STATES, 'affiliate', affiliate.status, TRIGGERS[action]);
  affiliate.version += 1;
  if (action === AffiliateAction.APPROVE) approve(ctx, affiliate, await requireRow(ctx, AffiliateProgram, { id: affiliate.programId }));
  ctx.audit(`affiliate.${TRIGGERS[action]}`, affiliate.id, { status: affiliate.status });
  return affiliate;
}

/** Ends an affiliate: what is owed is paid out by the next run, whatever the least payout is; links are dead. */
export async function close(ctx: Context, id: string): Promise<Affiliate> {
  const affiliate = await lockRow(ctx, Affiliate, { id });
  affiliate.status = move(AFFILIATE_STATES, 'affiliate', affiliate.status, 'close');
  affiliate.version += 1;
  await ctx.em.nativeUpdate(AffiliateLink, { affiliateId: affiliate.id, deletedAt: null }, { deletedAt: ctx.now() });
  ctx.audit('affiliate.closed', affiliate.id);
  return affiliate;
}

/** A link of the caller to a page of the brand. @throws Problem invalid_request for a page elsewhere. */
export async function createLink(ctx: Context, { programId, target }: CreateAffiliateLinkInput): Promise<AffiliateLink> {
  const affiliate = await ownAffiliate(ctx, programId);
  if (!isLive(affiliate.status)) fail('conflict', `an affiliate that is ${affiliate.status} has no links`);
  const program = await requireRow(ctx, AffiliateProgram, { id: affiliate.programId });
  if (!isOnHosts(String(target), hostsOf(ctx, program))) invalid('/input/target', 'must be an https address of the brand');
  const link = addLink(ctx, affiliate.id, String(target));
  ctx.audit('affiliate_link.created', link.id, { affiliate: affiliate.id });
  return link;
}

/** A link of the caller leads nowhere from now on; what it has brought stays. */
export async function deleteLink(ctx: Context, id: string): Promise<AffiliateLink> {
  const own = await ctx.em.find(Affiliate, { userId: ctx.caller.userId! });
  const link = await lockRow(ctx, AffiliateLink, { id, affiliateId: { $in: own.map(one => one.id) }, deletedAt: null });
  link.deletedAt = ctx.now();
  ctx.audit('affiliate_link.deleted', link.id);
  return link;
}
