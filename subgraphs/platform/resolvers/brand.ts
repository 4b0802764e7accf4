import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { addressKey, rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Brand, BrandConnection, BrandDomain, BrandDomainStatus } from '../entities/brand.js';
import { BrandsArgs } from '../inputs/lists.js';
import { visibleBrands } from '../references.js';
import { storedHost } from '../rules/hosts.js';

/** Lookups of a host by address, because anybody may make them. Source: platform 4. */
const hostLookups = rateLimitPerHost(60, 60_000);

async function domainsOf(ctx: Context, brandIds: readonly string[]): Promise<BrandDomain[][]> {
  const rows = await ctx.em.find(BrandDomain, { brandId: { $in: [...brandIds] } }, { orderBy: { host: 'asc' } });
  return brandIds.map(id => rows.filter(row => row.brandId === id));
}

@Resolver(() => Brand)
export class BrandResolver {
  @Access({ service: '*', user: '*' })
  @Query(() => BrandConnection, { description: 'Brands, newest first; a user sees the active ones.' })
  brands(@Args(() => BrandsArgs) { status, ids, ...paging }: BrandsArgs, @Ctx() ctx: Context): Promise<Connection<Brand>> {
    const asked = { ...(status && { status }), ...(ids && { id: { $in: ids.filter(isUuid) } }) };
    return page<Brand>(ctx.em, Brand, { $and: [asked, visibleBrands(ctx.caller)] }, paging, { time: 'createdAt' });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => Brand, { nullable: true })
  brand(@Arg('slug', () => String) slug: string, @Ctx() ctx: Context): Promise<Brand | null> {
    return ctx.em.findOne(Brand, { slug, ...visibleBrands(ctx.caller) });
  }

  @Access({ public: true })
  @Query(() => Brand, { nullable: true, description: 'The brand of a verified host; 60 times a minute and address.' })
  async brandByHost(@Rule({ maxLength: 255 }) @Arg('host', () => String) host: string, @Ctx() ctx: Context): Promise<Brand | null> {
    if (ctx.request.ip !== null) hostLookups(ctx.host).take(addressKey(ctx.request.ip));
    const stored = storedHost(host);
    const domain = stored && (await ctx.em.findOne(BrandDomain, { host: stored, status: BrandDomainStatus.VERIFIED }));
    return domain ? ctx.em.findOne(Brand, { id: domain.brandId, ...visibleBrands(ctx.caller) }) : null;
  }

  @Access({ service: '*', user: '*' })
  @FieldResolver(() => [BrandDomain])
  async domains(@Root() brand: Brand, @Ctx() ctx: Context): Promise<BrandDomain[]> {
    return (await ctx.load('brand:domains', brand.id, ids => domainsOf(ctx, ids))) ?? [];
  }
}
