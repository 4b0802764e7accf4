import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { PromoStatus } from '../entities/enums-offers.js';
import { BillingPrice } from '../entities/price.js';
import { Promo } from '../entities/promo.js';
import type { CreatePromoInput, UpdatePromoInput } from '../inputs/promo.js';
import { promoOf } from '../queries/promo.js';
import { changeViolations, promoViolations } from '../rules/promo-input.js';
import { PROMO_STATES, promoStatusAt } from '../rules/promo.js';

/** @throws Problem invalid_request for a price that the brand does not have. */
async function requirePrices(ctx: Context, brandId: string, ids: readonly string[]): Promise<void> {
  const known = new Set((await ctx.em.find(BillingPrice, { brandId, id: { $in: [...ids] } })).map(({ id }) => id));
  const unknown = ids.findIndex(id => !known.has(id));
  if (unknown >= 0) invalid(`/input/appliesTo/priceIds/${unknown}`, 'is no price of the brand');
}

function draft(ctx: Context, input: CreatePromoInput, brandId: string): Promo {
  const { appliesTo, amountOff, minSubtotal, ...given } = input;
  const promo = Object.assign(new Promo(), given, {
    brandId,
    code: given.code.toUpperCase(),
    amountOffMinor: amountOff?.amount ?? null,
    minSubtotalMinor: minSubtotal?.amount ?? null,
    currency: amountOff?.currency ?? minSubtotal?.currency ?? null,
    priceIds: (appliesTo?.priceIds ?? []).map(id => id.toLowerCase()),
    subjectKinds: appliesTo?.subjectKinds ?? [],
    status: PromoStatus.ACTIVE,
    createdAt: ctx.now(),
  });
  for (const name of [
    'name',
    'percentBps',
    'trialDays',
    'durationPeriods',
    'startsAt',
    'endsAt',
    'maxRedemptions',
    'affiliateCode',
  ] as const)
    Object.assign(promo, { [name]: given[name] ?? null });
  promo.status = promoStatusAt(promo, ctx.now());
  return promo;
}

/** @throws Problem invalid_request for what does not go together, conflict for a code that the brand has. */
export async function createPromo(ctx: Context, input: CreatePromoInput, brandId: string | null): Promise<Promo> {
  requireValid(promoViolations(input));
  if (brandId === null) invalid('/input/brandId', 'is required, because no brand is the default one');
  const promo = draft(ctx, input, brandId);
  if (promo.endsAt && promo.endsAt <= ctx.now()) invalid('/input/endsAt', 'must be in the future');
  await requirePrices(ctx, brandId, promo.priceIds);
  if (await promoOf(ctx, brandId, promo.code)) fail('conflict', 'The brand has a promo with this code', { reason: 'code_taken' });
  await ctx.em.persist(promo).flush();
  ctx.audit('promo.created', promo.id, { code: promo.code, kind: promo.kind });
  return promo;
}

/** Ends a promo, for good or later, and moves its limits. @throws Problem not_found, invalid_request; conflict for one that is disabled. */
export async function updatePromo(ctx: Context, { id, version, ...changes }: UpdatePromoInput): Promise<Promo> {
  const promo = await lockRow(ctx, Promo, { id });
  requireVersion(promo, version);
  requireValid(changeViolations(changes, promo.redeemedCount + promo.reservedCount - promo.lateCount));
  if (promo.status === PromoStatus.DISABLED || changes.status === PromoStatus.DISABLED)
    promo.status = move(PROMO_STATES, 'promo', promo.status, 'disable');
  const { endsAt, maxRedemptions, perUserLimit } = changes;
  if (endsAt !== undefined && promo.status === PromoStatus.EXPIRED) fail('conflict', 'a promo that is expired cannot be prolonged');
  if (endsAt !== undefined) promo.endsAt = endsAt;
  if (maxRedemptions !== undefined) promo.maxRedemptions = maxRedemptions;
  promo.perUserLimit = perUserLimit ?? promo.perUserLimit;
  promo.status = promoStatusAt(promo, ctx.now());
  promo.version += 1;
  ctx.audit('promo.updated', promo.id, { status: promo.status, max_redemptions: promo.maxRedemptions, per_user_limit: promo.perUserLimit });
  return promo;
}
