import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CountryCode, CurrencyCode, DateTime, MoneyInput, SafeInt } from '../../../runtime/schema/scalars.js';
import { BackorderPolicy, ProductKind, ProductSort, ProductStatus, PurchaseRequirement } from '../entities/enums.js';
import { CadenceInput } from './cart.js';

const SLUG = '^[a-z0-9-]{1,80}$';
const SKU = '^[A-Za-z0-9._-]{1,64}$';
const WORD = { minLength: 1, maxLength: 80 } as const;

@ArgsType()
export class ProductsArgs extends PageArgs {
  @Rule({ maxLength: 80 })
  @Field(() => String, { nullable: true, description: "Slug; default: the token's brand, else the default brand." })
  brand?: string | null;

  @Rule({ minLength: 2, maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'Title, tags, sku and category; codes in any spelling.' })
  q?: string | null;

  @Rule(WORD)
  @Field(() => String, { nullable: true, description: 'A category and what is below it.' })
  category?: string | null;

  @Rule({ maxItems: 30, maxLength: 80 })
  @Field(() => [String], { nullable: true, description: 'Any of them.' })
  tag?: string[] | null;

  @Rule({ maxItems: 100 })
  @Field(() => [ID], { nullable: true, description: 'Their order is kept; unknown ones are skipped.' })
  ids?: string[] | null;

  @Field(() => Boolean, { nullable: true })
  inStock?: boolean | null;

  @Field(() => PurchaseRequirement, { nullable: true })
  requirement?: PurchaseRequirement | null;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Minor units.' })
  minPrice?: number | null;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Minor units.' })
  maxPrice?: number | null;

  @Field(() => CurrencyCode, { nullable: true, description: "Default: the brand's." })
  currency?: string | null;

  @Field(() => CountryCode, { nullable: true, description: "Default: the brand's first." })
  country?: string | null;

  @Field(() => ProductSort, { defaultValue: ProductSort.NEWEST, description: 'RELEVANCE needs q.' })
  sort: ProductSort = ProductSort.NEWEST;

  @Field(() => ProductStatus, { nullable: true, description: 'For those who edit the catalogue.' })
  status?: ProductStatus | null;
}

@ArgsType()
export class BrandProductsArgs extends PageArgs {}

@ArgsType()
export class MarketArgs {
  @Field(() => CurrencyCode, { nullable: true, description: "Default: the brand's." })
  currency?: string | null;

  @Field(() => CountryCode, { nullable: true, description: "Default: the brand's first." })
  country?: string | null;
}

@InputType()
export class ProductOptionInput {
  @Rule(WORD)
  @Field(() => String)
  name: string;

  @Rule({ minItems: 1, maxItems: 100, maxLength: 80 })
  @Field(() => [String])
  values: string[];
}

@InputType()
export class ProductImageInput {
  @Rule({ maxLength: 2048 })
  @Field(() => String, { description: "On one of the brand's domains, or a file of content." })
  url: string;

  @Rule({ maxLength: 300 })
  @Field(() => String, { nullable: true })
  alt?: string | null;

  @Rule({ min: 1, max: 20_000 })
  @Field(() => Int, { nullable: true })
  width?: number | null;

  @Rule({ min: 1, max: 20_000 })
  @Field(() => Int, { nullable: true })
  height?: number | null;
}

@InputType()
export class SubscriptionOfferInput {
  @Field(() => CadenceInput)
  cadence: CadenceInput;

  @Rule({ min: 0, max: 9_999 })
  @Field(() => Int, { defaultValue: 0 })
  discountBps: number = 0;
}

@InputType()
export class ComponentInput {
  @Rule({ pattern: SKU })
  @Field(() => String)
  sku: string;

  @Rule({ min: 1, max: 999 })
  @Field(() => Int, { defaultValue: 1 })
  quantity: number = 1;
}

@InputType()
export class VariantPriceInput {
  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Field(() => MoneyInput, { nullable: true })
  compareAt?: MoneyInput | null;

  @Field(() => CountryCode, { nullable: true, description: 'Default: everywhere.' })
  country?: string | null;

  @Field(() => DateTime, { nullable: true })
  startsAt?: Date | null;

  @Field(() => DateTime, { nullable: true })
  endsAt?: Date | null;

  @Field(() => Boolean, { defaultValue: false })
  taxInclusive: boolean = false;
}

@InputType()
export class ProductVariantInput {
  @Rule({ pattern: SKU })
  @Field(() => String, { description: 'Names the variant: one that the product has is changed, another is made.' })
  sku: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  barcode?: string | null;

  @Rule({ minLength: 1, maxLength: 160 })
  @Field(() => String, { nullable: true, description: "Default: the product's." })
  title?: string | null;

  @Rule({ maxItems: 3, maxLength: 80 })
  @Field(() => [String], { defaultValue: [] })
  optionValues: string[];

  @Field(() => Boolean, { defaultValue: true })
  trackInventory: boolean = true;

  @Field(() => BackorderPolicy, { defaultValue: BackorderPolicy.DENY })
  backorder: BackorderPolicy = BackorderPolicy.DENY;

  @Rule({ min: 0, max: 1_000_000 })
  @Field(() => Int, { defaultValue: 0 })
  backorderLimit: number = 0;

  @Rule({ min: 1, max: 999 })
  @Field(() => Int, { defaultValue: 99 })
  maxPerOrder: number = 99;

  @Rule({ min: 0, max: 1_000_000 })
  @Field(() => Int, { nullable: true })
  weightGrams?: number | null;

  @Field(() => Boolean, { defaultValue: true })
  requiresShipping: boolean = true;

  @Rule({ maxLength: 14 })
  @Field(() => String, { nullable: true })
  hsCode?: string | null;

  @Field(() => CountryCode, { nullable: true })
  originCountry?: string | null;

  @Field(() => Boolean, { defaultValue: false })
  lotTracked: boolean = false;

  @Rule({ maxItems: 20 })
  @Field(() => [ComponentInput], { defaultValue: [], description: 'Of a bundle.' })
  components: ComponentInput[];

  @Rule({ maxItems: 50 })
  @Field(() => [VariantPriceInput], { defaultValue: [] })
  prices: VariantPriceInput[];
}

@InputType()
export class CreateProductInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the token's brand, else the default brand." })
  brandId?: string | null;

  @Rule({ pattern: SLUG })
  @Field(() => String)
  slug: string;

  @Rule({ minLength: 1, maxLength: 160, pattern: NOT_BLANK })
  @Field(() => String)
  title: string;

  @Rule({ maxLength: 300 })
  @Field(() => String, { nullable: true })
  subtitle?: string | null;

  @Rule({ maxLength: 50_000 })
  @Field(() => String, { nullable: true, description: 'Sanitised.' })
  descriptionHtml?: string | null;

  @Field(() => ProductKind, { defaultValue: ProductKind.PHYSICAL })
  kind: ProductKind = ProductKind.PHYSICAL;

  @Field(() => ProductStatus, { defaultValue: ProductStatus.DRAFT })
  status: ProductStatus = ProductStatus.DRAFT;

  @Field(() => PurchaseRequirement, { defaultValue: PurchaseRequirement.NONE })
  purchaseRequirement: PurchaseRequirement = PurchaseRequirement.NONE;

  @Rule({ pattern: '^[a-z][a-z0-9_.]{0,63}$' })
  @Field(() => String, { nullable: true })
  entitlementKey?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  medicationCode?: string | null;

  @Rule({ pattern: '^[a-z_]{1,32}$' })
  @Field(() => String, { defaultValue: 'standard' })
  taxCategory: string = 'standard';

  @Rule({ maxItems: 10, maxLength: 80 })
  @Field(() => [String], { defaultValue: [] })
  categories: string[];

  @Rule({ maxItems: 30, maxLength: 80 })
  @Field(() => [String], { defaultValue: [] })
  tags: string[];

  @Rule({ maxItems: 3 })
  @Field(() => [ProductOptionInput], { defaultValue: [] })
  options: ProductOptionInput[];

  @Rule({ maxItems: 30 })
  @Field(() => [ProductImageInput], { defaultValue: [] })
  images: ProductImageInput[];

  @Rule({ maxItems: 10 })
  @Field(() => [SubscriptionOfferInput], { defaultValue: [] })
  subscriptionOffers: SubscriptionOfferInput[];

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [ProductVariantInput])
  variants: ProductVariantInput[];
}

@InputType({ description: 'What is left out stays as it is.' })
export class UpdateProductInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 160, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Rule({ maxLength: 300 })
  @Field(() => String, { nullable: true })
  subtitle?: string | null;

  @Rule({ maxLength: 50_000 })
  @Field(() => String, { nullable: true })
  descriptionHtml?: string | null;

  @Field(() => ProductStatus, { nullable: true })
  status?: ProductStatus | null;

  @Field(() => PurchaseRequirement, { nullable: true })
  purchaseRequirement?: PurchaseRequirement | null;

  @Rule({ pattern: '^[a-z][a-z0-9_.]{0,63}$' })
  @Field(() => String, { nullable: true })
  entitlementKey?: string | null;

  @Rule({ maxItems: 10, maxLength: 80 })
  @Field(() => [String], { nullable: true })
  categories?: string[] | null;

  @Rule({ maxItems: 30, maxLength: 80 })
  @Field(() => [String], { nullable: true })
  tags?: string[] | null;

  @Rule({ maxItems: 30 })
  @Field(() => [ProductImageInput], { nullable: true })
  images?: ProductImageInput[] | null;

  @Rule({ maxItems: 10 })
  @Field(() => [SubscriptionOfferInput], { nullable: true })
  subscriptionOffers?: SubscriptionOfferInput[] | null;

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [ProductVariantInput], { nullable: true, description: 'Made or changed; those that are not named stay.' })
  variants?: ProductVariantInput[] | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  version?: number | null;
}

@InputType({ description: 'Takes the place of all prices of the variant.' })
export class SetVariantPricesInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  variantId: string;

  @Rule({ maxItems: 50 })
  @Field(() => [VariantPriceInput])
  prices: VariantPriceInput[];
}
