import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { CountryCode, CurrencyCode, EmailAddress, Locale, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import { BrandAction, BrandDomainPurpose } from '../entities/brand.js';
import { BRAND_SLUG } from './patterns.js';

@InputType()
export class BrandThemeInput {
  @Rule({ maxLength: 7 })
  @Field(() => String, { nullable: true, description: 'CSS hex colour, for example #0B6E4F.' })
  primaryColor?: string | null;

  @Rule({ maxLength: 7 })
  @Field(() => String, { nullable: true })
  accentColor?: string | null;

  @Field(() => Url, { nullable: true })
  logoUrl?: URL | null;

  @Field(() => Url, { nullable: true })
  faviconUrl?: URL | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true })
  fontFamily?: string | null;
}

@InputType()
export class CreateBrandInput {
  @Rule({ pattern: BRAND_SLUG })
  @Field(() => String, { description: 'Never changes.' })
  slug: string;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String)
  name: string;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String)
  legalName: string;

  @Field(() => Locale)
  defaultLocale: string;

  @Rule({ minItems: 1, maxItems: 50 })
  @Field(() => [Locale])
  locales: string[];

  @Field(() => CurrencyCode)
  defaultCurrency: string;

  @Rule({ minItems: 1, maxItems: 50 })
  @Field(() => [CurrencyCode])
  currencies: string[];

  @Rule({ minItems: 1, maxItems: 250 })
  @Field(() => [CountryCode])
  countries: string[];

  @Field(() => TimeZone)
  timeZone: string;

  @Field(() => EmailAddress)
  supportEmail: string;

  @Field(() => Url, { nullable: true })
  supportUrl?: URL | null;

  @Field(() => Boolean, { defaultValue: false })
  taxInclusivePrices: boolean = false;

  @Field(() => BrandThemeInput, { nullable: true })
  theme?: BrandThemeInput | null;
}

@InputType({ description: 'What changes; an absent field stays as it is.' })
export class UpdateBrandInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  expectedVersion: number;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { nullable: true })
  legalName?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'True makes it the default instead of the present one.' })
  isDefault?: boolean | null;

  @Field(() => Locale, { nullable: true })
  defaultLocale?: string | null;

  @Rule({ minItems: 1, maxItems: 50 })
  @Field(() => [Locale], { nullable: true })
  locales?: string[] | null;

  @Field(() => CurrencyCode, { nullable: true })
  defaultCurrency?: string | null;

  @Rule({ minItems: 1, maxItems: 50 })
  @Field(() => [CurrencyCode], { nullable: true })
  currencies?: string[] | null;

  @Rule({ minItems: 1, maxItems: 250 })
  @Field(() => [CountryCode], { nullable: true })
  countries?: string[] | null;

  @Field(() => TimeZone, { nullable: true })
  timeZone?: string | null;

  @Field(() => EmailAddress, { nullable: true })
  supportEmail?: string | null;

  @Field(() => Url, { nullable: true, description: 'Null takes it away.' })
  supportUrl?: URL | null;

  @Field(() => Boolean, { nullable: true })
  taxInclusivePrices?: boolean | null;

  @Field(() => BrandThemeInput, { nullable: true, description: 'Merged: a null in it takes a value away.' })
  theme?: BrandThemeInput | null;
}

@InputType()
export class SetBrandStatusInput {
  @Field(() => ID)
  id: string;

  @Field(() => BrandAction)
  action: BrandAction;
}

@InputType()
export class AddBrandDomainInput {
  @Field(() => ID)
  brandId: string;

  @Rule({ minLength: 3, maxLength: 255 })
  @Field(() => String, { description: 'Without port or wildcard; no public suffix.' })
  host: string;

  @Field(() => BrandDomainPurpose)
  purpose: BrandDomainPurpose;
}

@InputType()
export class BrandDomainInput {
  @Field(() => ID)
  brandId: string;

  @Field(() => ID)
  id: string;
}
