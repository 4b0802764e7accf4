import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { EmailAddress, Url } from '../../../runtime/schema/scalars.js';
import { StaffMember } from './staff.js';

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
