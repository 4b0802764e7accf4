import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { createBrand, setBrandStatus, updateBrand } from '../commands/brand.js';
import { addDomain, removeDomain, txtRecord, verifyDomain } from '../commands/brand-domain.js';
import { ANYBODY, BRAND_OPERATORS } from '../entities/access.js';
import { Brand, BrandConnection, BrandDomain } from '../entities/brand.js';
import { AddBrandDomainInput, BrandDomainInput, CreateBrandInput, SetBrandStatusInput, UpdateBrandInput } from '../inputs/brand.js';
import { BrandsArgs } from '../inputs/lists.js';
import { brandOfHost, brandsPage, domainsOf, visibleBrands } from '../queries/brands.js';

@Resolver(() => Brand)
export class BrandResolver {
  @Access(ANYBODY)
  @Query(() => BrandConnection, { description: 'Brands, newest first; a user sees the active ones.' })
  brands(@Args(() => BrandsArgs) args: BrandsArgs, @Ctx() ctx: Context): Promise<Connection<Brand>> {
    return brandsPage(ctx, args);
  }

  @Access(ANYBODY)
  @Query(() => Brand, { nullable: true })
  brand(@Arg('slug', () => String) slug: string, @Ctx() ctx: Context): Promise<Brand | null> {
    return ctx.em.findOne(Brand, { slug, ...visibleBrands(ctx.caller) });
  }

  @Access({ public: true })
  @Query(() => Brand, { nullable: true, description: 'The brand of a verified host; 60 times a minute and address.' })
  brandByHost(@Rule({ maxLength: 255 }) @Arg('host', () => String) host: string, @Ctx() ctx: Context): Promise<Brand | null> {
    return brandOfHost(ctx, host);
  }

  @Access(ANYBODY)
  @FieldResolver(() => [BrandDomain])
  async domains(@Root() brand: Brand, @Ctx() ctx: Context): Promise<BrandDomain[]> {
    return (await ctx.load('brand:domains', brand.id, ids => domainsOf(ctx, ids))) ?? [];
  }

  @Access(BRAND_OPERATORS)
  @Mutation(() => Brand)
  createBrand(@Arg('input', () => CreateBrandInput) input: CreateBrandInput, @Ctx() ctx: Context): Promise<Brand> {
    return createBrand(ctx, input);
  }

  @Access(BRAND_OPERATORS)
  @Mutation(() => Brand)
  updateBrand(@Arg('input', () => UpdateBrandInput) input: UpdateBrandInput, @Ctx() ctx: Context): Promise<Brand> {
    return updateBrand(ctx, input);
  }

  @Access(BRAND_OPERATORS)
  @Mutation(() => Brand, { description: 'Suspends, activates or archives a brand.' })
  setBrandStatus(@Arg('input', () => SetBrandStatusInput) input: SetBrandStatusInput, @Ctx() ctx: Context): Promise<Brand> {
    return setBrandStatus(ctx, input);
  }

  @Access(BRAND_OPERATORS)
  @Mutation(() => BrandDomain, { description: 'Adds a host, which counts once its TXT record has been seen.' })
  addBrandDomain(@Arg('input', () => AddBrandDomainInput) input: AddBrandDomainInput, @Ctx() ctx: Context): Promise<BrandDomain> {
    return addDomain(ctx, input);
  }

  @Access(BRAND_OPERATORS)
  @Prepare(txtRecord)
  @Mutation(() => BrandDomain, { description: 'Looks for the TXT record of a host.' })
  verifyBrandDomain(@Arg('input', () => BrandDomainInput) input: BrandDomainInput, @Ctx() ctx: Context): Promise<BrandDomain> {
    return verifyDomain(ctx, input);
  }

  @Access(BRAND_OPERATORS)
  @Mutation(() => BrandDomain, { description: 'Removes a host: from now on it resolves to no brand.' })
  removeBrandDomain(@Arg('input', () => BrandDomainInput) input: BrandDomainInput, @Ctx() ctx: Context): Promise<BrandDomain> {
    return removeDomain(ctx, input);
  }
}
