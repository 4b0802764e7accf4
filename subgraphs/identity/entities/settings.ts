import { Entity, Enum, ManyToOne, Property } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Locale, TimeZone } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum UserSettingsUnitSystem {
  METRIC = 'metric',
  IMPERIAL = 'imperial',
}

export enum UserSettingsTimeFormat {
  H12 = 'h12',
  H24 = 'h24',
}

export enum UserSettingsWeekStart {
  MONDAY = 'monday',
  SUNDAY = 'sunday',
  SATURDAY = 'saturday',
}

export enum UserSettingsTheme {
  SYSTEM = 'system',
  LIGHT = 'light',
  DARK = 'dark',
}

export enum UserSettingsDirectMessages {
  EVERYONE = 'everyone',
  KNOWN = 'known',
}
registerEnums(
  { UserSettingsUnitSystem, UserSettingsTimeFormat, UserSettingsWeekStart, UserSettingsTheme, UserSettingsDirectMessages },
  { UserSettingsDirectMessages: 'Who may begin a conversation.' },
);

/** Whoever may change settings reads what they have become. */
const SETTINGS = { service: 'admin:identity', user: 'read:preferences|manage:preferences', staff: 'admin:identity:read' };

@Access(SETTINGS)
@ObjectType({ description: 'Whether the user wants marketing, since when, and where it was given.' })
export class MarketingConsent {
  @Field(() => Boolean)
  granted: boolean;

  @Field(() => DateTime, { nullable: true })
  at: Date | null;

  @Field(() => String, { nullable: true })
  source: string | null;
}

@Access(SETTINGS)
@ObjectType({ description: 'Preferences of a user that every service respects.' })
@Entity({ tableName: 'user_settings' })
export class UserSettings {
  @ManyToOne({ entity: () => User, primary: true, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => Locale)
  @Property({ type: 'text', default: 'en' })
  locale: string = 'en';

  @Field(() => TimeZone)
  @Property({ type: 'text', default: 'UTC' })
  timeZone: string = 'UTC';

  @Field(() => DateTime, { nullable: true, description: 'When somebody gave the zone; null as long as it is the default.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  timeZoneSetAt: Date | null = null;

  @Field(() => UserSettingsUnitSystem)
  @Enum({ items: () => UserSettingsUnitSystem, type: 'text', default: UserSettingsUnitSystem.METRIC })
  unitSystem: UserSettingsUnitSystem = UserSettingsUnitSystem.METRIC;

  @Field(() => UserSettingsTimeFormat)
  @Enum({ items: () => UserSettingsTimeFormat, type: 'text', default: UserSettingsTimeFormat.H24 })
  timeFormat: UserSettingsTimeFormat = UserSettingsTimeFormat.H24;

  @Field(() => UserSettingsWeekStart)
  @Enum({ items: () => UserSettingsWeekStart, type: 'text', default: UserSettingsWeekStart.MONDAY })
  weekStart: UserSettingsWeekStart = UserSettingsWeekStart.MONDAY;

  @Field(() => UserSettingsTheme)
  @Enum({ items: () => UserSettingsTheme, type: 'text', default: UserSettingsTheme.SYSTEM })
  theme: UserSettingsTheme = UserSettingsTheme.SYSTEM;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: false })
  discoverableByEmail: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  showActivity: boolean = true;

  @Field(() => UserSettingsDirectMessages)
  @Enum({ items: () => UserSettingsDirectMessages, type: 'text', default: UserSettingsDirectMessages.KNOWN })
  directMessages: UserSettingsDirectMessages = UserSettingsDirectMessages.KNOWN;

  @Property({ type: 'boolean', default: false, fieldName: 'marketing_consent' })
  marketingGranted: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  marketingConsentAt: Date | null = null;

  @Property({ type: 'text', nullable: true })
  marketingConsentSource: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1, version: true })
  version: number;

  @Field(() => MarketingConsent)
  get marketingConsent(): MarketingConsent {
    return { granted: this.marketingGranted, at: this.marketingConsentAt, source: this.marketingConsentSource };
  }
}
