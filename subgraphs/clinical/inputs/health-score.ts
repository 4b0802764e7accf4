import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';

@ArgsType()
export class HealthScoresArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;
}

@ArgsType()
export class HealthScoreArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;
}

@InputType()
export class RecomputeHealthScoreInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;
}
