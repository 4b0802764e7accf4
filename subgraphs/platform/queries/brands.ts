import { addressKey, rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { holdsPermission, type Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { Brand, BrandDomain, BrandDomainStatus, BrandStatus } from '../entities/brand.js';
import type { BrandsArgs } from '../inputs/lists.js';
import { storedHost } from '../rules/brand.js';

const READ_BRANDS = ['admin:platform:read', 'admin:platform:brands'];

/** The brands that a caller may see: services and brand staff all of them, everybody else the active ones. */
export const visibleBrands = (caller: Caller): { status?: BrandStatus } =>
  caller.kind === 'service' || caller.kind === 'system' || READ_BRANDS.some(one => holdsPermission(caller, one))
    ? {}
    : { status: BrandStatus.ACTIVE };

export function brandsPage(ctx: Context, { status, ids, ...paging }: BrandsArgs): Promise<Connection<Brand>> {
  const asked = { ...(status && { status }), ...(ids && { id: { $in: ids.filter(isUuid) } }) };
  return page(ctx.em, Brand, { $and: [asked, visibleBrands(ctx.caller)] }, paging, { time: 'createdAt' });
}

/** Lookups of a host by address, because anybody may make them. Source: platform 4. */
const hostLookups = rateLimitPerHost(60, MINUTE_MS);

/** The brand of a verified host. @throws Problem rate_limited. */
export async function brandOfHost(ctx: Context, host: string): Promise<Brand | null> {
  if (ctx.request.ip !== null) ctx.count(hostLookups, addressKey(ctx.request.ip));
  const stored = storedHost(host);
  const domain = stored && (await ctx.em.findOne(BrandDomain, { host: stored, status: BrandDomainStatus.VERIFIED }));
  return domain ? ctx.em.findOne(Brand, { id: domain.brandId, ...visibleBrands(ctx.caller) }) : null;
}

/** Domains of each brand, by host. */
export async function domainsOf(ctx: Context, brandIds: readonly string[]): Promise<BrandDomain[][]> {
  const rows = await ctx.em.find(BrandDomain, { brandId: { $in: [...brandIds] } }, { orderBy: { host: 'asc' } });
  return brandIds.map(id => rows.filter(row => row.brandId === id));
}
