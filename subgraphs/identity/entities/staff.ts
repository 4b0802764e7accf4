import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, EmailAddress, Url } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum StaffMemberStatus {
  INVITED = 'invited',
  ACTIVE = 'active',
  SUSPENDED = 'suspended',
  REMOVED = 'removed',
  REVOKED = 'revoked',
  EXPIRED = 'expired',
}
registerEnums({ StaffMemberStatus }, { StaffMemberStatus: 'REVOKED: the invitation was taken back. REMOVED and REVOKED are final.' });

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

/** A colleague, for everybody who works here. Personal: e-mail and name. */
@Access({ service: 'admin:identity', staff: '*' })
@ObjectType({ description: 'A colleague.' })
export class TeamMember {
  @Field(() => ID, { description: 'Id of the entry of the staff.' })
  id: string;

  @Field(() => String, { nullable: true })
  displayName: string | null;

  @Field(() => String, { nullable: true })
  title: string | null;

  @Field(() => String, { nullable: true })
  department: string | null;

  @Field(() => EmailAddress)
  email: string;

  @Field(() => Url, { nullable: true })
  avatarUrl: string | null;
}

@Access({ service: 'admin:identity', staff: 'admin:identity:read' })
@ObjectType({ description: 'What somebody was asked for by.' })
export class StaffIdentity {
  @Field(() => String, { nullable: true })
  email: string | null;

  @Field(() => ID, { nullable: true })
  userId: string | null;

  @Field(() => ID, { nullable: true })
  staffId: string | null;
}

@Access({ service: 'admin:identity', staff: 'admin:identity:read' })
@ObjectType({ description: 'Who stands behind an identity; null for nobody.' })
export class ResolvedStaff {
  @Field(() => StaffIdentity)
  identity: StaffIdentity;

  @Field(() => StaffMember, { nullable: true })
  staff: StaffMember | null;
}

export const StaffMemberConnection = connectionOf(StaffMember, 'StaffMember');

export const TeamMemberConnection = connectionOf(TeamMember, 'TeamMember');
