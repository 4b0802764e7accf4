import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

@InputType({ description: 'Which rows of the audit log are shown; all conditions hold.' })
export class IdentityAuditFilter {
  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'One action, or with a dot at its end all that begin so: `challenge.`.' })
  action?: string | null;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { nullable: true, description: 'Id of the thing.' })
  target?: string | null;

  @Field(() => ID, { nullable: true, description: 'Person who acted.' })
  actorUserId?: string | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'App that acted.' })
  actorClientId?: string | null;

  @Field(() => DateTime, { nullable: true })
  after?: Date | null;

  @Field(() => DateTime, { nullable: true })
  before?: Date | null;
}

@ArgsType()
export class IdentityAuditArgs extends PageArgs {
  @Field(() => IdentityAuditFilter, { nullable: true })
  filter?: IdentityAuditFilter | null;
}
