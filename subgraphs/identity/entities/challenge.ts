import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum AuthChallengePurpose {
  SIGN_IN = 'sign_in',
  SIGN_UP = 'sign_up',
  RECOVERY = 'recovery',
  EMAIL_CHANGE = 'email_change',
  PHONE_VERIFY = 'phone_verify',
  STAFF_INVITE = 'staff_invite',
  SECOND_FACTOR = 'second_factor',
  REAUTHENTICATE = 'reauthenticate',
}

export enum AuthChallengeChannel {
  EMAIL = 'email',
  SMS = 'sms',
}
registerEnums({ AuthChallengeChannel });

/** A proof that is asked of a person. Leaves the service through `authDelivery` alone; see `rules/challenges.ts` for its states. */
@Entity({ tableName: 'auth_challenge' })
export class AuthChallenge {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  /** Null for an invitation, whose person may have no account. */
  @ManyToOne({ entity: () => User, mapToPk: true, nullable: true, fieldName: 'user_id' })
  userId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  staffId: string | null = null;

  @Enum({ items: () => AuthChallengePurpose, type: 'text' })
  purpose: AuthChallengePurpose;

  /** What comms writes; a `ChallengeTemplate`. */
  @Property({ type: 'text' })
  template: string;

  @Enum({ items: () => AuthChallengeChannel, type: 'text' })
  channel: AuthChallengeChannel;

  @Property({ type: 'blob' })
  recipientSealed: Buffer;

  @Property({ type: 'blob', nullable: true })
  codeSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true })
  codeHash: Buffer | null = null;

  @Property({ type: 'blob', nullable: true })
  linkSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true, unique: true })
  linkHash: Buffer | null = null;

  /** What takes effect with the proof, for example the password of a sign-up. */
  @Property({ type: 'blob', nullable: true })
  payloadSealed: Buffer | null = null;

  /** SHA-256 of the id of the authorization request that asked, whose browser alone signs in by it; the id is a cookie. */
  @Property({ type: 'blob', nullable: true })
  interactionHash: Buffer | null = null;

  @Property({ type: 'text', nullable: true })
  locale: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'integer', default: 5 })
  attemptsLeft: number = 5;

  @Property({ type: 'datetime', length: 3, nullable: true })
  consumedAt: Date | null = null;

  @Property({ type: 'integer', default: 0 })
  deliveries: number = 0;
}

@Access({ internal: 'comms' })
@ObjectType({ description: 'What is to be sent to a person, and where; never stored by who asks.' })
export class AuthDelivery {
  @Field(() => AuthChallengeChannel)
  channel: AuthChallengeChannel;

  @Field(() => String, { description: 'E-mail address or phone number.' })
  to: string;

  @Field(() => String)
  template: string;

  @Field(() => String, { nullable: true })
  link: string | null;

  @Field(() => String, { nullable: true })
  code: string | null;

  @Field(() => String, { nullable: true })
  locale: string | null;

  @Field(() => DateTime)
  expiresAt: Date;
}

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'A code is on its way to the new address.' })
export class EmailChangeRequest {
  @Field(() => ID)
  challengeId: string;

  @Field(() => String, { description: 'The address, masked.' })
  sentTo: string;

  @Field(() => DateTime)
  expiresAt: Date;
}

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'A code is on its way to a phone number.' })
export class PhoneVerification {
  @Field(() => ID)
  challengeId: string;

  @Field(() => String, { description: 'The number, masked.' })
  sentTo: string;

  @Field(() => DateTime)
  expiresAt: Date;
}
