import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { EmailAddress } from '../../../runtime/schema/scalars.js';
import { StaffMemberStatus } from '../entities/staff.js';
import { ROLE_KEY } from './role.js';
import { FILLED_LINE, ONE_LINE } from './text.js';

@InputType({ description: 'Which entries a list shows; all conditions hold.' })
export class StaffFilter {
  @Field(() => [StaffMemberStatus], { nullable: true })
  status?: StaffMemberStatus[] | null;

  @Rule({ pattern: ROLE_KEY })
  @Field(() => String, { nullable: true, description: 'Held now, or given by the open invitation.' })
  role?: string | null;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { nullable: true, description: 'The beginning of an e-mail address or a name.' })
  q?: string | null;
}

@ArgsType()
export class StaffListArgs extends PageArgs {
  @Field(() => StaffFilter, { nullable: true })
  filter?: StaffFilter | null;
}

@InputType({ description: 'Somebody who is asked to work here.' })
export class InviteStaffInput {
  @Field(() => EmailAddress)
  email: string;

  @Rule({ minItems: 1, maxItems: 10 })
  @Field(() => [String], { description: 'Keys of the roles that the invitation gives.' })
  roles: string[];

  @Field(() => ID, { nullable: true, description: 'The only brand on which the roles count.' })
  brandId?: string | null;

  @Rule({ maxLength: 60, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  department?: string | null;

  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'Greeting that stands in the invitation.' })
  message?: string | null;
}

@InputType({ description: 'What changes; null clears.' })
export class UpdateStaffInput {
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  department?: string | null;

  @Rule({ maxLength: 60, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => Boolean, { nullable: true })
  visibleInTeam?: boolean | null;

  @Field(() => StaffMemberStatus, { nullable: true, description: 'ACTIVE only: ends a suspension.' })
  status?: StaffMemberStatus | null;

  @Field(() => Int, { nullable: true, description: 'The version that was read; another one is a conflict.' })
  version?: number | null;
}

@InputType({ description: 'Takes somebody off duty.' })
export class SuspendStaffInput {
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'For administrators only.' })
  reason?: string | null;
}

@InputType({ description: "Ends somebody's work here." })
export class RemoveStaffInput extends SuspendStaffInput {}

@InputType({ description: 'Exactly one of e-mail, user and entry.' })
export class StaffIdentityInput {
  @Rule({ minLength: 3, maxLength: 254 })
  @Field(() => String, { nullable: true })
  email?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  staffId?: string | null;
}

@InputType({ description: 'People who may work here.' })
export class ResolveStaffInput {
  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [StaffIdentityInput])
  identities: StaffIdentityInput[];
}
