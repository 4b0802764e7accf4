import { Field, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Locale, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import {
  UserSettingsDirectMessages,
  UserSettingsTheme,
  UserSettingsTimeFormat,
  UserSettingsUnitSystem,
  UserSettingsWeekStart,
} from '../entities/settings.js';
import { ProfileVisibility } from '../entities/user.js';
import { FILLED_LINE, LINES, ONE_LINE } from './text.js';

@InputType({ description: 'Changes of the own profile; what is not given stays, null clears.' })
export class UpdateMyProfileInput {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: '3 to 30 of a-z 0-9 _, a letter first; once in 30 days.' })
  handle?: string | null;

  @Rule({ minLength: 1, maxLength: 60, pattern: FILLED_LINE })
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

  @Rule({ minLength: 1, maxLength: 60, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true, description: 'Where it was given, for example settings_page.' })
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

@InputType({ description: 'A new picture, from an address or as bytes; a url that is null removes the present one.' })
export class SetMyAvatarInput {
  @Field(() => Url, { nullable: true, description: 'https on port 443; fetched now, at most 5 MiB.' })
  url?: URL | string | null;

  @Rule({ maxLength: 6_990_508 })
  @Field(() => String, { nullable: true, description: 'JPEG, PNG, WebP, GIF or AVIF of at most 5 MiB, base64.' })
  file?: string | null;
}
