import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';

@ArgsType()
export class ReportTimeArgs {
  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime, { description: 'The first instant after it.' })
  to: Date;
}

@ArgsType()
export class SignedHeadsArgs extends PageArgs {
  @Field(() => DateTime, { nullable: true, description: 'Sealed since.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Sealed before.' })
  to?: Date | null;
}

@ArgsType()
export class VerifyChainArgs {
  @Rule({ min: 1 })
  @Field(() => SafeInt, { nullable: true, description: 'First sequence; default: the beginning.' })
  from?: number | null;

  @Rule({ min: 1 })
  @Field(() => SafeInt, {
    nullable: true,
    description: 'Last sequence; default: the end, with what is not sealed and the heads of the file.',
  })
  to?: number | null;
}

@InputType()
export class PreviewPostingInput {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  eventType: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { description: "The event's data." })
  data: Record<string, unknown>;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "The event's user." })
  userId?: string | null;
}
