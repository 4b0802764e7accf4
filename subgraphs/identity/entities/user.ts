import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { LocalDate, Url } from '../../../runtime/schema/scalars.js';

export enum UserStatus {
  PENDING = 'pending',
  ACTIVE = 'active',
  SUSPENDED = 'suspended',
  BANNED = 'banned',
  ERASING = 'erasing',
  ERASED = 'erased',
}

export enum ProfileVisibility {
  PUBLIC = 'public',
  MEMBERS = 'members',
  PRIVATE = 'private',
}
export enum HandleAvailabilityReason {
  TAKEN = 'taken',
  RESERVED = 'reserved',
  HELD = 'held',
  INVALID = 'invalid',
  BLOCKED = 'blocked',
}
registerEnums(
  { UserStatus, ProfileVisibility, HandleAvailabilityReason },
  {
    HandleAvailabilityReason: 'Why a handle cannot be had.',

    UserStatus: 'Only an active user can use the platform; an erased one is a tombstone.',
    ProfileVisibility: 'Who sees a profile: any valid token, any user token, the owner alone.',
  },
);

/**
 * An account. What only some may know (status, contact, dates) is a field of the resolver, null for everybody else.
 * Personal: phone, and everything of the tables beside it.
 */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An account. Fields that the caller may not know are null.' })
@Entity({ tableName: 'user' })
export class User {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Enum({ items: () => UserStatus, type: 'text' })
  status: UserStatus = UserStatus.ACTIVE;

  @Property({ type: 'text', nullable: true })
  phone: string | null = null;

  /** Null for a number that nobody has confirmed. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  phoneVerifiedAt: Date | null = null;

  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  lastSignInAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  erasedAt: Date | null = null;

  @Property({ type: 'integer', default: 1, version: true })
  version: number;

  /** An administrators' operation has answered with it; in no row. */
  administered?: boolean;
}

/** Address of an account, once per address among accounts that are not erased. Personal. */
@Entity({ tableName: 'user_email' })
export class UserEmail {
  @ManyToOne({ entity: () => User, primary: true, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Property({ type: 'text' })
  email: string;

  /** The address in NFC and lower case; see `emailKey`. */
  @Property({ type: 'text', unique: true })
  emailKey: string;

  @Property({ type: 'datetime', length: 3, nullable: true })
  verifiedAt: Date | null = null;
}

/** What others see of a user. Personal: handle, display name and the free texts. */
@Access({ service: '*', user: '*' })
@ObjectType({ description: 'What others see of a user, as far as its visibility lets them.' })
@Entity({ tableName: 'user_profile' })
export class UserProfile {
  @ManyToOne({ entity: () => User, primary: true, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => String, { nullable: true, description: 'Unique name, lower case.' })
  @Property({ type: 'text', nullable: true, unique: true })
  handle: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  displayName: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  bio: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  pronouns: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  location: string | null = null;

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  websiteUrl: string | null = null;

  /** Where the pictures are stored; see `rules/avatar.ts`. */
  @Property({ type: 'text', nullable: true })
  avatarKey: string | null = null;

  @Field(() => ProfileVisibility)
  @Enum({ items: () => ProfileVisibility, type: 'text', default: ProfileVisibility.MEMBERS })
  visibility: ProfileVisibility = ProfileVisibility.MEMBERS;

  /** When the handle was changed last; the first one is no change. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  handleChangedAt: Date | null = null;

  @Field(() => LocalDate, { description: 'First day of the month in which the user joined.' })
  @Property({ type: 'date' })
  joinedOn: string;
}

/** argon2id hash of a password (PHC string). Never leaves the table. */
@Entity({ tableName: 'credential_password' })
export class CredentialPassword {
  @ManyToOne({ entity: () => User, primary: true, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Property({ type: 'text' })
  hash: string;

  @Property({ type: 'datetime', length: 3 })
  changedAt: Date;
}

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'An avatar in one size.' })
export class AvatarVersion {
  @Field(() => Int, { description: 'Edge length, pixels: 64, 256 or 512.' })
  size: number;

  @Field(() => Url)
  url: string;
}

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'Whether a handle can be had.' })
export class HandleAvailability {
  @Field(() => String)
  handle: string;

  @Field(() => Boolean)
  available: boolean;

  @Field(() => HandleAvailabilityReason, { nullable: true })
  reason: HandleAvailabilityReason | null;

  @Field(() => [String])
  suggestions: string[];
}

export const UserConnection = connectionOf(User, 'User');
