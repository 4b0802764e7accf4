import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { DateTime, TimeZone } from '../../../runtime/schema/scalars.js';
import { PREFERENCES } from './access.js';
import { CommsLockScreenDetail, CommsMentionDigest } from './enums.js';

@ObjectType({ description: 'Which channels a topic goes by.' })
export class CommsTopicChannels {
  @Field(() => Boolean)
  email: boolean;

  @Field(() => Boolean)
  sms: boolean;

  @Field(() => Boolean)
  push: boolean;

  @Field(() => Boolean)
  inApp: boolean;
}

@ObjectType({ description: 'The switches of a topic.' })
export class CommsTopicPreference {
  @Field(() => String)
  topic: string;

  @Field(() => CommsTopicChannels)
  channels: CommsTopicChannels;
}

@ObjectType({ description: 'Switches of whole channels.' })
export class CommsMasterSwitches {
  @Field(() => Boolean)
  email: boolean;

  @Field(() => Boolean)
  sms: boolean;

  @Field(() => Boolean)
  push: boolean;
}

@ObjectType({ description: 'When a person wants quiet, local time.' })
export class CommsQuietHours {
  @Field(() => Boolean)
  enabled: boolean;

  @Field(() => String, { description: 'HH:MM' })
  from: string;

  @Field(() => String, { description: 'HH:MM' })
  to: string;
}

@ObjectType({ description: 'How mentions are told.' })
export class CommsDigestPreference {
  @Field(() => CommsMentionDigest)
  mentions: CommsMentionDigest;

  @Field(() => Int, { description: 'Hour of the day, local time.' })
  hour: number;

  @Field(() => Int, { description: 'ISO weekday, 1 is Monday.' })
  weekday: number;
}

@ObjectType({ description: 'Agreement to adverts by SMS.' })
export class CommsSmsConsent {
  @Field(() => Boolean)
  granted: boolean;

  @Field(() => DateTime)
  at: Date;

  @Field(() => String)
  source: string;
}

/** What is stored: overrides only. */
export interface StoredChoices {
  topics: Record<string, Partial<Record<'email' | 'sms' | 'push' | 'in_app', boolean>>>;
  channels: Partial<Record<'email' | 'sms' | 'push', boolean>>;
  digest: Partial<{ mentions: CommsMentionDigest; hour: number; weekday: number }>;
  lockScreenDetail?: CommsLockScreenDetail;
  smsConsent?: { granted: boolean; at: string; source: string };
}

@Entity({ tableName: 'preference' })
export class Preference {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'json' })
  choices: StoredChoices = { topics: {}, channels: {}, digest: {} };

  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Property({ type: 'integer', version: true, default: 1 })
  version: number = 1;
}

/** A person's own window; without a row that of the brand holds. */
@Entity({ tableName: 'quiet_hours' })
export class QuietHours {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'boolean' })
  enabled: boolean;

  @Property({ type: 'text', fieldName: 'from_time' })
  from: string;

  @Property({ type: 'text', fieldName: 'to_time' })
  to: string;
}

@Access(PREFERENCES)
@Directive('@key(fields: "userId")')
@ObjectType({ description: 'What a person wants to get, and when.' })
export class CommsPreferences {
  @Field(() => ID)
  userId: string;

  @Field(() => [CommsTopicPreference])
  topics: CommsTopicPreference[];

  @Field(() => CommsMasterSwitches)
  channels: CommsMasterSwitches;

  @Field(() => CommsQuietHours)
  quietHours: CommsQuietHours;

  @Field(() => CommsDigestPreference)
  digest: CommsDigestPreference;

  @Field(() => CommsLockScreenDetail)
  lockScreenDetail: CommsLockScreenDetail;

  @Field(() => CommsSmsConsent, { nullable: true })
  smsConsent: CommsSmsConsent | null;

  @Field(() => Int)
  version: number;
}

/** Where a visit or a dose of a person was, for whom no zone is known. */
@Entity({ tableName: 'zone_hint' })
export class ZoneHint {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'text', comment: PERSONAL })
  timeZone: string;

  @Property({ type: 'datetime', length: 3 })
  at: Date;
}

@Access({ internal: ['community'] })
@ObjectType({ description: 'When community is to bundle mentions.' })
export class MentionDigestPreference {
  @Field(() => CommsMentionDigest)
  mentions: CommsMentionDigest;

  @Field(() => Int)
  hour: number;

  @Field(() => Int)
  weekday: number;

  @Field(() => TimeZone)
  timeZone: string;
}

@Access({ service: 'admin:comms', user: 'read:preferences|read:inbox', staff: 'admin:comms:read' })
@ObjectType({ description: 'By which channels a person can be reached now.' })
export class CommsReachable {
  @Field(() => Boolean)
  email: boolean;

  @Field(() => Boolean)
  sms: boolean;

  @Field(() => Boolean)
  push: boolean;
}
