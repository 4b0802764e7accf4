import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CountryCode, DateTime, Money } from '../../../runtime/schema/scalars.js';
import { Brand } from '../stubs.js';
import { ANY_TOKEN, CATALOGUE_EDITORS, READERS } from './access.js';
import { AvailabilityStatus, BackorderPolicy, CadenceUnit, ProductKind, ProductStatus, PurchaseRequirement } from './enums.js';

@ObjectType({ description: 'What variants differ in, and its values.' })
export class ProductOption {
  @Field(() => String)
  name: string;

  @Field(() => [String])
  values: string[];
}

@ObjectType()
export class ProductImage {
  @Field(() => String)
  url: string;

  @Field(() => String, { nullable: true })
  alt: string | null;

  @Field(() => Int, { nullable: true })
  width: number | null;

  @Field(() => Int, { nullable: true })
  height: number | null;

  @Field(() => Int)
  position: number;

  @Field(() => [ID], { description: 'Variants that it shows; empty: all.' })
  variantIds: string[];
}

@ObjectType({ description: 'How often something recurs.' })
export class Cadence {
  @Field(() => CadenceUnit)
  unit: CadenceUnit;

  @Field(() => Int, { description: '1 to 26 weeks, 1 to 12 months.' })
  count: number;
}

@ObjectType({ description: 'A cadence in which a product can be subscribed to.' })
export class SubscriptionOffer {
  @Field(() => Cadence)
  cadence: Cadence;

  @Field(() => Int, { description: 'Taken off each order, of 10000.' })
  discountBps: number;
}

@ObjectType()
export class ProductSeo {
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;
}

@ObjectType({ description: 'Lowest and highest price of what can be bought now.' })
export class PriceRange {
  @Field(() => Money)
  min: Money;

  @Field(() => Money)
  max: Money;
}

@ObjectType({ description: 'The object of an outside system that stands for the same thing.' })
export class ExternalRef {
  @Field(() => String)
  system: string;

  @Field(() => String)
  externalId: string;
}

/** Something that is sold. Source: commerce 2. */
@Access(ANY_TOKEN)
@Directive('@key(fields: "id")')
@Directive('@key(fields: "brandId slug")')
@ObjectType({ description: 'Something that a brand sells.' })
@Entity({ tableName: 'product' })
export class Product {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => String, { description: 'Unique for the brand.' })
  @Property({ type: 'text' })
  slug: string;

  @Field(() => ProductStatus)
  @Enum({ items: () => ProductStatus })
  status: ProductStatus = ProductStatus.DRAFT;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  subtitle: string | null = null;

  @Field(() => String, { nullable: true, description: 'Sanitised HTML.' })
  @Property({ type: 'text', nullable: true })
  descriptionHtml: string | null = null;

  @Field(() => ProductKind)
  @Enum({ items: () => ProductKind })
  kind: ProductKind = ProductKind.PHYSICAL;

  @Field(() => PurchaseRequirement)
  @Enum({ items: () => PurchaseRequirement })
  purchaseRequirement: PurchaseRequirement = PurchaseRequirement.NONE;

  @Field(() => String, { nullable: true, description: 'Feature that a buyer must have, where a membership is required.' })
  @Property({ type: 'text', nullable: true })
  entitlementKey: string | null = null;

  @Access(CATALOGUE_EDITORS)
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: HEALTH })
  medicationCode: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  taxCategory: string = 'standard';

  @Field(() => [String], { description: 'Paths in the tree of categories, `food/bars`.' })
  @Property({ type: 'array' })
  categories: string[] = [];

  @Field(() => [String])
  @Property({ type: 'array' })
  tags: string[] = [];

  @Field(() => [ProductOption])
  @Property({ type: 'json' })
  options: ProductOption[] = [];

  @Field(() => [ProductImage])
  @Property({ type: 'json' })
  images: ProductImage[] = [];

  @Field(() => [SubscriptionOffer], { name: 'subscriptionOffers' })
  @Property({ type: 'json' })
  offers: SubscriptionOffer[] = [];

  @Field(() => ProductSeo)
  @Property({ type: 'json' })
  seo: ProductSeo = {};

  @Property({ type: 'text' })
  searchText: string = '';

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  publishedAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Brand)
  get brand(): Brand {
    return { id: this.brandId };
  }
}

export const ProductConnection = connectionOf<Product>(Product, 'Product');

@ObjectType({ description: 'The price of a variant at an instant.' })
export class VariantPrice {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  variantId: string;

  @Field(() => ID)
  brandId: string;

  @Field(() => Money)
  amount: Money;

  @Field(() => Money, { nullable: true, description: 'What it is compared with, more than the amount.' })
  compareAt: Money | null;

  @Field(() => CountryCode, { nullable: true, description: 'Null: everywhere.' })
  country: string | null;

  @Field(() => DateTime, { nullable: true })
  startsAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  endsAt: Date | null;

  @Field(() => Boolean, { description: 'Whether the amount holds its tax.' })
  taxInclusive: boolean;
}

@ObjectType({ description: 'Whether a variant can be had now.' })
export class VariantAvailability {
  @Field(() => AvailabilityStatus)
  status: AvailabilityStatus;

  @Field(() => Int, { nullable: true, description: 'Members see it up to 10.' })
  quantity: number | null;
}

/** What is put into a cart: one choice of a product's options. Source: commerce 2. */
@Access(ANY_TOKEN)
@Directive('@key(fields: "id")')
@Directive('@key(fields: "sku")')
@ObjectType({ description: "One choice of a product's options." })
@Entity({ tableName: 'product_variant' })
export class ProductVariant {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  productId: string;

  @Field(() => String, { description: 'Unique over all brands.' })
  @Property({ type: 'text' })
  sku: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  barcode: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  position: number;

  @Field(() => [String], { description: "In the order of the product's options." })
  @Property({ type: 'json' })
  optionValues: string[] = [];

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  trackInventory: boolean = true;

  @Field(() => BackorderPolicy)
  @Enum({ items: () => BackorderPolicy })
  backorder: BackorderPolicy = BackorderPolicy.DENY;

  @Access(READERS)
  @Field(() => Int)
  @Property({ type: 'integer' })
  backorderLimit: number = 0;

  @Field(() => Int)
  @Property({ type: 'integer' })
  maxPerOrder: number = 99;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  weightGrams: number | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  requiresShipping: boolean = true;

  @Field(() => String, { nullable: true, description: 'Harmonised System code.' })
  @Property({ type: 'text', nullable: true })
  hsCode: string | null = null;

  @Field(() => CountryCode, { nullable: true })
  @Property({ type: 'text', nullable: true })
  originCountry: string | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  lotTracked: boolean = false;

  @Property({ type: 'boolean' })
  isBundle: boolean = false;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;
}

@ObjectType({ description: 'A part of a bundle.' })
export class VariantComponent {
  @Field(() => ProductVariant)
  variant: ProductVariant;

  @Field(() => Int)
  quantity: number;
}
