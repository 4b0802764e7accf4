import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { CountryCode, DateTime, EmailAddress, Locale, PhoneNumber, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import { BadgeTier, UserBadgeSource } from '../entities/badge.js';
import {
  UserSettingsDirectMessages,
  UserSettingsTheme,
  UserSettingsTimeFormat,
  UserSettingsUnitSystem,
  UserSettingsWeekStart,
} from '../entities/settings.js';
import { ProfileVisibility } from '../entities/user.js';
import { NOT_BLANK, ONE_LINE } from './address.js';

/** Several lines of text: line feeds, but no other control characters and no marks that turn the direction of writing. */
const LINES = '^(?:\\n|[^\\p{Cc}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069])*$';

@InputType({ description: 'Changes of the own profile; what is not given stays, null clears.' })
export class UpdateMyProfileInput {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: '3 to 30 of a-z 0-9 _, a letter first; once in 30 days.' })
  handle?: string | null;

  @Rule({ minLength: 1, maxLength: 60, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Rule({ maxLength: 300, pattern: LINES })
  @Field(() => String, { nullable: true })
  bio?: string | null;

  @Rule({ maxLength: 30, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  pronouns?: string | null;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  location?: string | null;

  @Field(() => Url, { nullable: true, description: 'https.' })
  websiteUrl?: URL | string | null;

  @Field(() => ProfileVisibility, { nullable: true, description: 'Null: MEMBERS.' })
  visibility?: ProfileVisibility | null;
}

@InputType({ description: 'Whether marketing is wanted; the time is noted.' })
export class MarketingConsentInput {
  @Field(() => Boolean)
  granted: boolean;

  @Rule({ minLength: 1, maxLength: 60, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true, description: 'Where it was said, for example settings_page.' })
  source?: string | null;
}

@InputType({ description: 'Changes of the own settings; what is not given stays, null is the default again.' })
export class UpdateMySettingsInput {
  @Field(() => Int, { nullable: true, description: 'The version that the change is based on.' })
  version?: number | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Field(() => TimeZone, { nullable: true })
  timeZone?: string | null;

  @Field(() => UserSettingsUnitSystem, { nullable: true })
  unitSystem?: UserSettingsUnitSystem | null;

  @Field(() => UserSettingsTimeFormat, { nullable: true })
  timeFormat?: UserSettingsTimeFormat | null;

  @Field(() => UserSettingsWeekStart, { nullable: true })
  weekStart?: UserSettingsWeekStart | null;

  @Field(() => UserSettingsTheme, { nullable: true })
  theme?: UserSettingsTheme | null;

  @Field(() => Boolean, { nullable: true })
  discoverableByEmail?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  showActivity?: boolean | null;

  @Field(() => UserSettingsDirectMessages, { nullable: true })
  directMessages?: UserSettingsDirectMessages | null;

  @Field(() => MarketingConsentInput, { nullable: true })
  marketingConsent?: MarketingConsentInput | null;
}

@InputType({ description: 'A badge as profiles show it.' })
export class UpsertBadgeInput {
  @Rule({ pattern: '^[a-z0-9]+(?:[_-][a-z0-9]+)*$', maxLength: 64 })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 60, pattern: NOT_BLANK })
  @Field(() => String)
  name: string;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String)
  description: string;

  @Field(() => Url, { nullable: true })
  iconUrl?: URL | string | null;

  @Field(() => BadgeTier, { defaultValue: BadgeTier.NONE })
  tier: BadgeTier = BadgeTier.NONE;
}

@InputType({ description: 'A badge for a user.' })
export class AwardBadgeInput {
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { description: 'Key of the badge.' })
  badge: string;

  @Field(() => UserBadgeSource, { defaultValue: UserBadgeSource.SYSTEM })
  source: UserBadgeSource = UserBadgeSource.SYSTEM;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: Date | null;
}

@InputType({ description: 'A badge to take back.' })
export class RevokeBadgeInput {
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { description: 'Key of the badge.' })
  badge: string;
}

@InputType({ description: 'A new account, active at once.' })
export class CreateUserInput {
  @Rule({ maxLength: 254 })
  @Field(() => EmailAddress)
  email: string;

  @Field(() => Boolean, { defaultValue: false })
  emailVerified: boolean = false;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Rule({ minLength: 1, maxLength: 60, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => ID, { nullable: true, description: 'Brand of the first sign-up.' })
  brandId?: string | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Field(() => TimeZone, { nullable: true })
  timeZone?: string | null;

  @Field(() => CountryCode, { nullable: true, description: 'Told with the event, not kept.' })
  countryCode?: string | null;
}
