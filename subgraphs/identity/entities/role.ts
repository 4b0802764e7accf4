import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum PermissionCheckReason {
  GRANTED = 'granted',
  NOT_STAFF = 'not_staff',
  SUSPENDED = 'suspended',
  MISSING_PERMISSION = 'missing_permission',
  EXPIRED = 'expired',
  BRAND_MISMATCH = 'brand_mismatch',
}
registerEnums({ PermissionCheckReason });

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

@Access({ service: 'admin:identity', staff: '*' })
@ObjectType({ description: 'The role that grants a permission.' })
export class PermissionMatch {
  @Field(() => ID)
  assignmentId: string;

  @Field(() => String)
  role: string;

  @Field(() => String, { description: 'The permission of the role that includes the one asked for.' })
  permission: string;
}

/** Answer to "may this person do that". Source: identity 4.12. */
@Access({ service: 'admin:identity', staff: '*' })
@ObjectType({ description: 'Whether a staff member may do something, and why not.' })
export class PermissionCheck {
  @Field(() => ID)
  userId: string;

  @Field(() => String)
  permission: string;

  @Field(() => Boolean)
  allowed: boolean;

  @Field(() => PermissionCheckReason)
  reason: PermissionCheckReason;

  @Field(() => PermissionMatch, { nullable: true })
  matched: PermissionMatch | null;
}
