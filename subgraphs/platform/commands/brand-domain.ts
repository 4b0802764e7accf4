import { randomBytes } from 'node:crypto';
import { isUuid } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { BrandDomain, BrandDomainStatus, BrandStatus, type Brand } from '../entities/brand.js';
import type { AddBrandDomainInput, BrandDomainInput } from '../inputs/brand.js';
import { dnsTxtOf } from '../ports/dns-txt.js';
import { brandHost, challengeOf, moveDomain } from '../rules/brand.js';
import { lockBrand } from './brand.js';
import { invalidateBrands } from './invalidation.js';

/** A domain of this very brand, locked. @throws Problem not_found. */
const lockDomain = async (ctx: Context, { id, brandId }: BrandDomainInput): Promise<BrandDomain> =>
  isUuid(brandId) ? lockRow(ctx, BrandDomain, { id: id.toLowerCase(), brandId: brandId.toLowerCase() }) : fail('not_found', 'Not found');

/** Adds a host, which counts once its TXT record has been seen. @throws Problem not_found, invalid_request, conflict. */
export async function addDomain(ctx: Context, input: AddBrandDomainInput): Promise<BrandDomain> {
  const brand = await requireNotArchived(ctx, input.brandId);
  const judged = brandHost(input.host);
  if ('refusal' in judged) invalid('/input/host', judged.refusal);
  if (await ctx.em.count(BrandDomain, { host: judged.host })) fail('conflict', 'This host is taken', { reason: 'host_taken' });
  const verificationRecord = `platform-verification=${randomBytes(16).toString('hex')}`;
  const facts = { brandId: brand.id, host: judged.host, purpose: input.purpose, verificationRecord };
  const domain = Object.assign(new BrandDomain(), facts);
  ctx.em.persist(domain);
  ctx.audit('brand_domain.added', domain.id, { brand_id: brand.id, host: domain.host });
  await invalidateBrands(ctx, [brand.id], ['domains']);
  return domain;
}

/** Whether the TXT record of a domain holds what proves it; asked before the transaction. */
export const txtRecord = preparation(async (ctx: Context, { input: { id, brandId } }: { input: BrandDomainInput }): Promise<boolean> => {
  const domain = isUuid(id) && isUuid(brandId) ? await ctx.em.findOne(BrandDomain, { id, brandId }) : null;
  if (!domain) return false;
  return (await dnsTxtOf(ctx.host)(challengeOf(domain.host))).includes(domain.verificationRecord);
});

/** The brand of a domain, locked first: it is archived only without a verified host. @throws Problem not_found, conflict for one that is archived. */
async function requireNotArchived(ctx: Context, brandId: string): Promise<Brand> {
  const brand = isUuid(brandId) ? await lockBrand(ctx, brandId) : fail('not_found', 'Not found');
  return brand.status === BrandStatus.ARCHIVED ? fail('conflict', 'an archived brand takes no hosts') : brand;
}

/** VERIFIED or FAILED by what {@link txtRecord} found. @throws Problem not_found, conflict for one that is verified, or of an archived brand. */
export async function verifyDomain(ctx: Context, input: BrandDomainInput): Promise<BrandDomain> {
  await requireNotArchived(ctx, input.brandId);
  const domain = await lockDomain(ctx, input);
  const before = domain.status;
  domain.status = moveDomain(domain.status, txtRecord.of(ctx));
  domain.verifiedAt = domain.status === BrandDomainStatus.VERIFIED ? ctx.now() : null;
  ctx.audit('brand_domain.verified', domain.id, { brand_id: domain.brandId, status: domain.status });
  if (domain.status !== before) await invalidateBrands(ctx, [domain.brandId], ['domains']);
  return domain;
}

/** @throws Problem not_found. */
export async function removeDomain(ctx: Context, input: BrandDomainInput): Promise<BrandDomain> {
  const domain = await lockDomain(ctx, input);
  ctx.em.remove(domain);
  ctx.audit('brand_domain.removed', domain.id, { brand_id: domain.brandId, host: domain.host });
  await invalidateBrands(ctx, [domain.brandId], ['domains']);
  return domain;
}
