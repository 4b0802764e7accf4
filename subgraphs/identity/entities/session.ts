import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { CountryCode, DateTime } from '../../../runtime/schema/scalars.js';
import { User, UserStatus } from './user.js';

const OWN = { user: 'read:account', firstParty: true } as const;

@Access(OWN)
@ObjectType({ description: 'What somebody signed in with.' })
export class AuthSessionDevice {
  @Field(() => String, { nullable: true })
  browser: string | null;

  @Field(() => String, { nullable: true })
  os: string | null;

  @Field(() => String, { nullable: true })
  formFactor: string | null;
}

/** A sign-in of a user in one browser. Personal: the network prefix. */
@Access(OWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A sign-in of a user in one browser.' })
@Entity({ tableName: 'auth_session' })
export class AuthSession {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  lastActiveAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]' })
  amr: string[];

  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Property({ type: 'text', nullable: true })
  browser: string | null = null;

  @Property({ type: 'text', nullable: true })
  os: string | null = null;

  @Property({ type: 'text', nullable: true })
  formFactor: string | null = null;

  @Field(() => String, { nullable: true, description: 'Network: /24 of IPv4, /48 of IPv6.' })
  @Property({ type: 'text', nullable: true })
  ipPrefix: string | null = null;

  @Field(() => CountryCode, { nullable: true })
  @Property({ type: 'string', columnType: 'char(2)', nullable: true })
  countryCode: string | null = null;

  @Field(() => AuthSessionDevice)
  get device(): AuthSessionDevice {
    return { browser: this.browser, os: this.os, formFactor: this.formFactor };
  }
}

@Access(OWN)
@ObjectType({ description: 'How many sign-ins were ended.' })
export class SignOutOthers {
  @Field(() => Int)
  revoked: number;
}

export enum SessionVerificationReason {
  EXPIRED = 'expired',
  REVOKED = 'revoked',
  MALFORMED = 'malformed',
  USER_NOT_ACTIVE = 'user_not_active',
}
registerEnums({ SessionVerificationReason });

const VERIFIES = { service: 'admin:identity', user: '*' } as const;

@Access(VERIFIES)
@ObjectType({ description: 'Whose token it is.' })
export class VerifiedUser {
  @Field(() => ID)
  id: string;

  @Field(() => UserStatus)
  status: UserStatus;

  @Field(() => String, { nullable: true })
  handle: string | null;

  @Field(() => String, { nullable: true })
  displayName: string | null;
}

@Access(VERIFIES)
@ObjectType({ description: 'The sign-in that a token belongs to.' })
export class VerifiedSession {
  @Field(() => ID)
  id: string;

  @Field(() => DateTime)
  createdAt: Date;

  @Field(() => DateTime)
  lastActiveAt: Date;
}

/** What a token is worth now. Source: identity 4.6. */
@Access(VERIFIES)
@ObjectType({ description: 'What a token is worth now.' })
export class SessionVerification {
  @Field(() => Boolean)
  active: boolean;

  @Field(() => SessionVerificationReason, { nullable: true, description: 'Why it is not active.' })
  reason: SessionVerificationReason | null;

  @Field(() => VerifiedUser, { nullable: true, description: 'Null for a service token.' })
  user: VerifiedUser | null;

  @Field(() => VerifiedSession, { nullable: true })
  session: VerifiedSession | null;

  @Field(() => ID, { nullable: true })
  clientId: string | null;

  @Field(() => String, { nullable: true })
  scope: string | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  authTime: Date | null;

  @Field(() => [String], { nullable: true })
  amr: string[] | null;

  @Field(() => [String], { nullable: true })
  roles: string[] | null;

  @Field(() => [String], { nullable: true })
  permissions: string[] | null;

  @Field(() => Boolean, { nullable: true })
  firstParty: boolean | null;
}
