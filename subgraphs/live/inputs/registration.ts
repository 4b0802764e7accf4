import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { LiveRegistrationStatus } from '../entities/enums.js';

@InputType()
export class RegisterForLiveSessionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  sessionId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, {
    nullable: true,
    description: 'Default: the caller. The host team invites others, staff and services register anybody.',
  })
  userId?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Beyond the capacity; staff and services only.' })
  overrideCapacity?: boolean | null;
}

@ArgsType()
export class LiveRegistrationsArgs extends PageArgs {
  @Field(() => LiveRegistrationStatus, { nullable: true })
  status?: LiveRegistrationStatus | null;
}
