import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { UserStatus } from './user.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

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
