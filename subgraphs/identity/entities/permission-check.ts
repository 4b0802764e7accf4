import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum PermissionCheckReason {
  GRANTED = 'granted',
  NOT_STAFF = 'not_staff',
  SUSPENDED = 'suspended',
  MISSING_PERMISSION = 'missing_permission',
  EXPIRED = 'expired',
  BRAND_MISMATCH = 'brand_mismatch',
}
registerEnums({ PermissionCheckReason });

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
