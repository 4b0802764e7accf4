import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime, EmailAddress } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum StaffMemberStatus {
  INVITED = 'invited',
  ACTIVE = 'active',
  SUSPENDED = 'suspended',
  REMOVED = 'removed',
  REVOKED = 'revoked',
  EXPIRED = 'expired',
}
registerEnums({ StaffMemberStatus }, { StaffMemberStatus: 'REVOKED: the invitation was taken back. REMOVED and REVOKED are final.' });

/** What a staff member may be asked to do. Source: identity A8. */
@Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: '*', internal: true })
@Directive('@key(fields: "key")')
@ObjectType({ description: 'A set of permissions that staff members hold together.' })
@Entity({ tableName: 'role' })
export class Role {
  @Field(() => ID)
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String)
  @Property({ type: 'text' })
  description: string;

  @Field(() => [String], { description: '`admin:<service>[:<area>[:<verb>]]`; each includes everything below it.' })
  @Property({ type: 'string[]', columnType: 'text[]' })
  permissions: string[];

  @Field(() => Boolean, { description: 'Every installation has it; it cannot be changed.' })
  @Property({ type: 'boolean', default: false })
  builtIn: boolean = false;
}

/** A role that somebody holds; unique per (user, role, brand) while not revoked. */
@Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:read|admin:identity:staff', internal: true })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A role that somebody holds.' })
@Entity({ tableName: 'role_assignment' })
export class RoleAssignment {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @ManyToOne({ entity: () => Role, mapToPk: true, fieldName: 'role' })
  roleKey: string;

  @Field(() => ID, { nullable: true, description: 'The only brand on which it counts; null: all.' })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => String, { description: 'Who gave it: `staff:<id>`, `service:<client>` or `system:identity`.' })
  @Property({ type: 'text' })
  grantedBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  grantedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  revokedAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  reason: string | null = null;
}

/** Somebody who works here, or is asked to. Personal: e-mail and names. */
@Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:read|admin:identity:staff' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Somebody who works here, or is asked to. A user finds only the own entry.' })
@Entity({ tableName: 'staff_member' })
export class StaffMember {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id', nullable: true })
  userId: string | null = null;

  @Field(() => EmailAddress)
  @Property({ type: 'text' })
  email: string;

  /** The address in NFC and lower case. */
  @Property({ type: 'text' })
  emailKey: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  displayName: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  title: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  department: string | null = null;

  @Access({
    service: 'admin:identity',
    user: 'read:profile|read:account',
    staff: 'admin:identity:read|admin:identity:staff',
    internal: true,
  })
  @Field(() => StaffMemberStatus)
  @Enum({ items: () => StaffMemberStatus, type: 'text' })
  status: StaffMemberStatus = StaffMemberStatus.INVITED;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  visibleInTeam: boolean = true;

  @Field(() => [String], { description: 'Roles that the invitation gives when it is accepted.' })
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  invitedRoles: string[] = [];

  @Field(() => ID, { nullable: true, description: 'Brand on which the roles of the invitation count; null: all.' })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  invitedBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  invitedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  inviteExpiresAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  acceptedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastActiveAt: Date | null = null;

  @Field(() => String, { nullable: true, description: 'Why the member was suspended or removed.' })
  @Property({ type: 'text', nullable: true })
  statusReason: string | null = null;

  @Field(() => String, { nullable: true, description: 'Greeting that stands in the invitation.' })
  @Property({ type: 'text', nullable: true })
  message: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1, version: true })
  version: number;
}
