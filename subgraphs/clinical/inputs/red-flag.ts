import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { RedFlagSeverity, RedFlagStatus } from '../entities/red-flag.js';

@ArgsType()
export class RedFlagsArgs extends PageArgs {
  @Field(() => [RedFlagStatus], { nullable: true })
  status?: RedFlagStatus[] | null;

  @Field(() => [RedFlagSeverity], { nullable: true })
  severity?: RedFlagSeverity[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@InputType()
export class ResolveRedFlagInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String)
  resolution: string;
}

@InputType()
export class DismissRedFlagInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String)
  reason: string;
}
