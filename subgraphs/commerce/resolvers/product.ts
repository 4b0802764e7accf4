import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CountryCode } from '../../../runtime/schema/scalars.js';
import { archiveProduct, changedBrand, createProduct, productBrand, setVariantPrices, updateProduct } from '../commands/product.js';
import { ANY_TOKEN, CATALOGUE_EDITORS, SYNC_KEEPERS } from '../entities/access.js';
import {
  ExternalRef,
  PriceRange,
  Product,
  ProductConnection,
  ProductVariant,
  VariantAvailability,
  VariantComponent,
  VariantPrice,
} from '../entities/product.js';
import {
  BrandProductsArgs,
  CreateProductInput,
  MarketArgs,
  ProductsArgs,
  SetVariantPricesInput,
  UpdateProductInput,
} from '../inputs/product.js';
import { brandOf } from '../ports/brands.js';
import { shippingCountries } from '../ports/shipping.js';
import { isEditor, loadComponents, loadPrice, loadVariants, productById } from '../queries/product.js';
import { productsPage } from '../queries/products-page.js';
import { externalRefs } from '../queries/storefront-link.js';
import { loadStock } from '../queries/stock.js';
import { availabilityOf, takeable } from '../rules/stock.js';
import { Brand } from '../stubs.js';

/** The market that is asked about, else the brand's own. */
async function marketOf(ctx: Context, brandId: string, { currency, country }: MarketArgs): Promise<{ currency: string; country: string }> {
  if (currency != null && country != null) return { currency, country };
  const brand = await brandOf(ctx.host, { id: brandId });
  return { currency: currency ?? brand.defaultCurrency, country: country ?? brand.countries[0] ?? '' };
}

@Resolver(() => Product)
export class ProductResolver {
  @Access(ANY_TOKEN)
  @Query(() => ProductConnection, { description: 'What a brand sells.' })
  async products(@Args(() => ProductsArgs) args: ProductsArgs, @Ctx() ctx: Context): Promise<Connection<Product>> {
    return productsPage(ctx, args, await brandOf(ctx.host, { slug: args.brand, fallbackId: ctx.caller.brandId }));
  }

  @Access(ANY_TOKEN)
  @Query(() => Product, { nullable: true })
  product(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Product | null> {
    return productById(ctx, id);
  }

  @Access(CATALOGUE_EDITORS)
  @Prepare(productBrand)
  @Mutation(() => Product, { description: 'Makes a product with its variants and prices.' })
  createProduct(@Arg('input', () => CreateProductInput) input: CreateProductInput, @Ctx() ctx: Context): Promise<Product> {
    return createProduct(ctx, input);
  }

  @Access(CATALOGUE_EDITORS)
  @Prepare(changedBrand)
  @Mutation(() => Product, { description: 'Changes a product.' })
  updateProduct(@Arg('input', () => UpdateProductInput) input: UpdateProductInput, @Ctx() ctx: Context): Promise<Product> {
    return updateProduct(ctx, input);
  }

  @Access(CATALOGUE_EDITORS)
  @Mutation(() => Product, { description: 'Shows and sells a product no more.' })
  archiveProduct(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Product> {
    return archiveProduct(ctx, id);
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => [ProductVariant], { description: 'By position.' })
  variants(@Root() { id }: Product, @Ctx() ctx: Context): Promise<ProductVariant[]> {
    return loadVariants(ctx, id);
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => PriceRange, { nullable: true, description: 'Over variants that can be bought now; null: none can.' })
  async priceRange(
    @Root() { id, brandId }: Product,
    @Args(() => MarketArgs) args: MarketArgs,
    @Ctx() ctx: Context,
  ): Promise<PriceRange | null> {
    const { currency, country } = await marketOf(ctx, brandId, args);
    const variants = await loadVariants(ctx, id);
    const [stocks, prices] = await Promise.all([
      Promise.all(variants.map(one => loadStock(ctx, one.id))),
      Promise.all(variants.map(one => loadPrice(ctx, one.id, currency, country))),
    ]);
    const amounts = prices.flatMap((one, index) => (one && takeable(stocks[index]!) > 0 ? [one.amount.amount] : []));
    if (amounts.length === 0) return null;
    return { min: { amount: Math.min(...amounts), currency }, max: { amount: Math.max(...amounts), currency } };
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => Boolean, { description: 'Whether a variant can be bought now.' })
  async available(@Root() { id }: Product, @Ctx() ctx: Context): Promise<boolean> {
    const stocks = await Promise.all((await loadVariants(ctx, id)).map(one => loadStock(ctx, one.id)));
    return stocks.some(stock => takeable(stock) > 0);
  }

  @Access(SYNC_KEEPERS)
  @FieldResolver(() => [ExternalRef])
  externalRefs(@Root() { id }: Product, @Ctx() ctx: Context): Promise<ExternalRef[]> {
    return externalRefs(ctx, id);
  }
}

@Resolver(() => ProductVariant)
export class ProductVariantResolver {
  @Access(CATALOGUE_EDITORS)
  @Mutation(() => ProductVariant, { description: 'Takes the place of all prices of a variant.' })
  setVariantPrices(@Arg('input', () => SetVariantPricesInput) input: SetVariantPricesInput, @Ctx() ctx: Context): Promise<ProductVariant> {
    return setVariantPrices(ctx, input);
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => Product, { nullable: true })
  product(@Root() { productId }: ProductVariant, @Ctx() ctx: Context): Promise<Product | null> {
    return loadRow(ctx, Product, 'id', productId);
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => VariantPrice, { nullable: true, description: 'Null: not sold there.' })
  async price(
    @Root() { id, productId }: ProductVariant,
    @Args(() => MarketArgs) args: MarketArgs,
    @Ctx() ctx: Context,
  ): Promise<VariantPrice | null> {
    const isKnown = args.currency != null && args.country != null;
    const product = isKnown ? null : await loadRow(ctx, Product, 'id', productId);
    const { currency, country } = await marketOf(ctx, product?.brandId ?? '', args);
    return loadPrice(ctx, id, currency, country);
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => VariantAvailability)
  async availability(@Root() { id }: ProductVariant, @Ctx() ctx: Context): Promise<VariantAvailability> {
    return availabilityOf(await loadStock(ctx, id), isEditor(ctx));
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => [VariantComponent], { description: 'Parts of a bundle.' })
  async components(@Root() { id }: ProductVariant, @Ctx() ctx: Context): Promise<VariantComponent[]> {
    const parts = await loadComponents(ctx, id);
    const variants = await Promise.all(parts.map(one => loadRow(ctx, ProductVariant, 'id', one.componentId)));
    return parts.map((one, index) => ({ variant: variants[index]!, quantity: one.quantity }));
  }
}

@Resolver(() => Brand)
export class BrandProductsResolver {
  @Access(ANY_TOKEN)
  @FieldResolver(() => ProductConnection, { description: 'What the brand sells, newest first.' })
  async products(
    @Root() { id }: Brand,
    @Args(() => BrandProductsArgs) args: BrandProductsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<Product>> {
    return productsPage(ctx, Object.assign(new ProductsArgs(), args), await brandOf(ctx.host, { id }));
  }

  @Access(ANY_TOKEN)
  @FieldResolver(() => [CountryCode], { description: 'Countries that the brand ships to.' })
  async shippingCountries(@Root() { id }: Brand, @Ctx() ctx: Context): Promise<string[]> {
    return (
      (await ctx.load('commerce.shippingCountries', id, async ids => {
        const known = await shippingCountries(ctx, ids as string[]);
        return ids.map(one => known.get(one) ?? []);
      })) ?? []
    );
  }
}
