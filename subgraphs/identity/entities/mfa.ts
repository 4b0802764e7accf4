import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum MfaMethodKind {
  TOTP = 'totp',
  EMAIL_OTP = 'email_otp',
}

export enum MfaMethodStatus {
  PENDING = 'pending',
  ACTIVE = 'active',
}
registerEnums({ MfaMethodKind, MfaMethodStatus }, { MfaMethodStatus: 'PENDING until the first code; gone after ten minutes.' });

/** A second factor. The secret is sealed and leaves the table once. */
@Access({ user: 'read:account', firstParty: true })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A second factor.' })
@Entity({ tableName: 'mfa_method' })
export class MfaMethod {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => MfaMethodKind)
  @Enum({ items: () => MfaMethodKind, type: 'text' })
  kind: MfaMethodKind;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  label: string | null = null;

  @Field(() => MfaMethodStatus)
  @Enum({ items: () => MfaMethodStatus, type: 'text' })
  status: MfaMethodStatus;

  @Property({ type: 'blob', nullable: true })
  secretSealed: Buffer | null = null;

  @Property({ type: 'integer', default: 5 })
  attemptsLeft: number = 5;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastUsedAt: Date | null = null;
}

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'How many backup codes are left; never the codes.' })
export class BackupCodeStatus {
  @Field(() => DateTime, { nullable: true })
  generatedAt: Date | null;

  @Field(() => Int)
  total: number;

  @Field(() => Int)
  remaining: number;
}

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'A secret for an authenticator app, shown once.' })
export class TotpEnrolment {
  @Field(() => ID)
  methodId: string;

  @Field(() => String, { description: 'Base32, 160 bits.' })
  secret: string;

  @Field(() => String)
  otpauthUri: string;

  @Field(() => String, { description: 'The same as a picture.' })
  qrSvg: string;

  @Field(() => DateTime)
  expiresAt: Date;
}

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'A second factor that is active now.' })
export class ConfirmedTotp {
  @Field(() => MfaMethod)
  method: MfaMethod;

  @Field(() => [String], { nullable: true, description: 'With the first method only, shown once.' })
  backupCodes: string[] | null;
}

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'New backup codes, shown once.' })
export class BackupCodes {
  @Field(() => [String])
  backupCodes: string[];
}
