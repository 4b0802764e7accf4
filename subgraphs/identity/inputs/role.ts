import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

export const ROLE_KEY = '^[a-z][a-z_]{1,39}$';

@InputType({ description: 'A role for somebody.' })
export class AssignRoleInput {
  @Field(() => ID)
  userId: string;

  @Rule({ pattern: ROLE_KEY })
  @Field(() => String)
  role: string;

  @Field(() => ID, { nullable: true, description: 'The only brand on which it counts.' })
  brandId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'In the future.' })
  expiresAt?: Date | null;

  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true })
  reason?: string | null;
}

@InputType({ description: 'Either the assignment, or user and role (and brand).' })
export class RevokeRoleInput {
  @Field(() => ID, { nullable: true })
  assignmentId?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ pattern: ROLE_KEY })
  @Field(() => String, { nullable: true })
  role?: string | null;

  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}

@InputType({ description: 'A role of this installation; the built-in ones cannot be changed.' })
export class UpsertRoleInput {
  @Rule({ pattern: ROLE_KEY })
  @Field(() => ID)
  key: string;

  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String)
  name: string;

  @Rule({ maxLength: 300 })
  @Field(() => String, { defaultValue: '' })
  description: string;

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [String], { description: 'Permissions that a contract names.' })
  permissions: string[];
}
