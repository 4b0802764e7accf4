import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { CountryCode, DateTime, EmailAddress, Locale, PhoneNumber, TimeZone } from '../../../runtime/schema/scalars.js';
import { UserStatus } from './user.js';

export enum CrmSyncChange {
  UPSERT = 'upsert',
  DELETE = 'delete',
}

export enum CrmSyncReason {
  CREATED = 'created',
  PROFILE = 'profile',
  CONTACT = 'contact',
  CONSENT = 'consent',
  STATUS = 'status',
  ERASED = 'erased',
}
registerEnums({ CrmSyncChange, CrmSyncReason }, { CrmSyncChange: 'What the CRM is to do with its contact.' });

/** When that of a user which a CRM may know has changed last, by kind of change. The user's id is its key. */
@Entity({ tableName: 'crm_change' })
export class CrmChange {
  @PrimaryKey({ type: 'uuid', fieldName: 'user_id' })
  id: string;

  @Property({ type: 'datetime', length: 3 })
  changedAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  createdAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  profileAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  contactAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  consentAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  statusAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  erasedAt: Date | null = null;
}

/** Personal. */
@Access({ service: 'admin:identity' })
@ObjectType({ description: 'What a CRM may know of a user.' })
export class CrmContact {
  @Field(() => EmailAddress, { nullable: true })
  email: string | null;

  @Field(() => String, { nullable: true })
  displayName: string | null;

  @Field(() => PhoneNumber, { nullable: true })
  phone: string | null;

  @Field(() => Locale, { nullable: true })
  locale: string | null;

  @Field(() => TimeZone, { nullable: true })
  timeZone: string | null;

  @Field(() => CountryCode, { nullable: true, description: 'Of the default shipping address.' })
  countryCode: string | null;
}

@Access({ service: 'admin:identity' })
@ObjectType({ description: 'A user who has changed, for a CRM.' })
export class CrmSyncCandidate {
  @Field(() => ID)
  userId: string;

  @Field(() => CrmSyncChange)
  change: CrmSyncChange;

  @Field(() => [CrmSyncReason], { description: 'What has changed since the time asked for.' })
  reasons: CrmSyncReason[];

  @Field(() => CrmContact, { nullable: true, description: 'Null for an account that is closed for good or erased.' })
  contact: CrmContact | null;

  @Field(() => Boolean)
  marketingConsent: boolean;

  @Field(() => UserStatus)
  status: UserStatus;

  @Field(() => DateTime)
  changedAt: Date;

  @Field(() => String, { description: 'Hex SHA-256 of all that is shown but times and reasons: a row with a known hash may be skipped.' })
  hash: string;
}

export const CrmSyncCandidateConnection = connectionOf(CrmSyncCandidate, 'CrmSyncCandidate');
