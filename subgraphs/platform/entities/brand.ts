import { Check, Entity, Enum, Index, ManyToOne, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CountryCode, CurrencyCode, DateTime, EmailAddress, Locale, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum BrandStatus {
  ACTIVE = 'active',
  SUSPENDED = 'suspended',
  ARCHIVED = 'archived',
}

export enum BrandDomainPurpose {
  APP = 'app',
  SHOP = 'shop',
  AUTH = 'auth',
  DOCS = 'docs',
}

export enum BrandDomainStatus {
  PENDING = 'pending',
  VERIFIED = 'verified',
  FAILED = 'failed',
}

export enum BrandAction {
  SUSPEND = 'suspend',
  ACTIVATE = 'activate',
  ARCHIVE = 'archive',
}

registerEnums(
  { BrandStatus, BrandDomainPurpose, BrandDomainStatus, BrandAction },
  {
    BrandAction: 'ACTIVATE and ARCHIVE are for a suspended brand; one with a verified host is not archived.',
    BrandStatus: 'SUSPENDED: reads stay, new carts, sign-ups and sessions are refused.',
    BrandDomainStatus: 'Only VERIFIED hosts count in redirect and link checks and resolve to a brand.',
  },
);

@ObjectType({ description: 'How a brand looks; null where the product default applies.' })
export class BrandTheme {
  @Field(() => String, { nullable: true, description: 'CSS hex colour, for example #0B6E4F.' })
  primaryColor?: string | null;

  @Field(() => String, { nullable: true, description: 'CSS hex colour.' })
  accentColor?: string | null;

  @Field(() => Url, { nullable: true })
  logoUrl?: string | null;

  @Field(() => Url, { nullable: true })
  faviconUrl?: string | null;

  @Field(() => String, { nullable: true })
  fontFamily?: string | null;
}

/** A storefront and its rules. Anybody may see how it looks; any token its other fields. Source: platform 2. */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "id")')
@Directive('@key(fields: "slug")')
@ObjectType({ description: 'A storefront and its rules.' })
@Entity({ tableName: 'brand' })
// `GET /v1/brands/resolve` would hide a brand of that slug
@Check({ name: 'brand_slug_check', expression: `slug ~ '^[a-z0-9-]{2,40}$' and slug <> 'resolve'` })
@Check({ name: 'brand_default_locale_check', expression: 'default_locale = any (locales)' })
@Check({ name: 'brand_default_currency_check', expression: 'default_currency = any (currencies)' })
@Unique({ name: 'brand_one_default', properties: ['isDefault'], where: 'is_default' })
@Index({ name: 'brand_created_at_id', properties: ['createdAt', 'id'] })
export class Brand {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Never changes.' })
  @Property({ type: 'text', unique: true })
  slug: string;

  @Access({ public: true })
  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String)
  @Property({ type: 'text' })
  legalName: string;

  @Field(() => BrandStatus)
  @Enum({ items: () => BrandStatus })
  status: BrandStatus = BrandStatus.ACTIVE;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  isDefault: boolean = false;

  @Field(() => Locale)
  @Property({ type: 'text' })
  defaultLocale: string;

  @Access({ public: true })
  @Field(() => [Locale])
  @Property({ type: 'array' })
  locales: string[];

  @Field(() => CurrencyCode)
  @Property({ type: 'text' })
  defaultCurrency: string;

  @Field(() => [CurrencyCode])
  @Property({ type: 'array' })
  currencies: string[];

  @Field(() => [CountryCode])
  @Property({ type: 'array' })
  countries: string[];

  @Field(() => TimeZone)
  @Property({ type: 'text' })
  timeZone: string;

  @Access({ public: true })
  @Field(() => BrandTheme)
  @Property({ type: 'json' })
  theme: BrandTheme = {};

  @Field(() => EmailAddress)
  @Property({ type: 'text', comment: PERSONAL })
  supportEmail: string;

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  supportUrl: string | null = null;

  @Field(() => Boolean, { description: 'Whether prices are shown with tax.' })
  @Property({ type: 'boolean' })
  taxInclusivePrices: boolean = false;

  @Field(() => Int, { description: 'Grows when a policy of the brand changes.' })
  @Property({ type: 'integer' })
  legalVersion: number = 1;

  @Field(() => Int)
  @Property({ type: 'integer', version: true })
  version: number = 1;

  /** Strictly growing `version` of `platform.brand.cache_invalidated.v1`; apart from `version`, which an editor holds on to. */
  @Property({ type: 'integer' })
  cacheVersion: number = 0;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'A host name of a brand.' })
@Entity({ tableName: 'brand_domain' })
@Check({ name: 'brand_domain_host_check', expression: `host ~ '^[a-z0-9-]+(\\.[a-z0-9-]+)+$'` })
export class BrandDomain {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Index({ name: 'brand_domain_brand_id' })
  @ManyToOne({ entity: () => Brand, mapToPk: true, fieldName: 'brand_id', deleteRule: 'cascade' })
  brandId: string;

  @Field(() => String, { description: 'Lower-case A-label; unique over all brands.' })
  @Property({ type: 'text', unique: true })
  host: string;

  @Field(() => BrandDomainPurpose)
  @Enum({ items: () => BrandDomainPurpose })
  purpose: BrandDomainPurpose;

  @Field(() => BrandDomainStatus)
  @Enum({ items: () => BrandDomainStatus })
  status: BrandDomainStatus = BrandDomainStatus.PENDING;

  @Access({ service: 'admin:platform', staff: 'admin:platform:brands|admin:platform:read' })
  @Field(() => String, { nullable: true, description: 'What the TXT record _platform-challenge.<host> must hold.' })
  @Property({ type: 'text', comment: SECRET })
  verificationRecord: string;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  verifiedAt: Date | null = null;
}

export const BrandConnection = connectionOf(Brand, 'Brand');
