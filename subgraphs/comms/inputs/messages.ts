import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { CommsChannel, CommsMessageStatus, CommsStatsGroup } from '../entities/enums.js';

const CODE = '^[a-z][a-z0-9_]{0,63}$';
const REF = '^[A-Za-z0-9_.:-]{1,128}$';

@InputType()
export class CommsEntityInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  type: string;

  @Rule({ pattern: REF })
  @Field(() => String)
  id: string;
}

@InputType()
export class CommsMessageInput {
  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { description: 'The same one is taken once in 90 days.' })
  dedupeKey: string;

  @Rule({ pattern: CODE })
  @Field(() => String)
  template: string;

  @Rule({ maxItems: 4 })
  @Field(() => [CommsChannel], { nullable: true, description: 'None: those of the topic.' })
  channels?: CommsChannel[] | null;

  @Rule({ object: true })
  @Field(() => JSONObject, {
    nullable: true,
    description: 'At most 30 texts of 200 characters, whole numbers, truth values or times; never an address.',
  })
  params?: Record<string, unknown> | null;

  @Field(() => DateTime, { nullable: true })
  sendAfter?: Date | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: Date | null;

  @Field(() => CommsEntityInput, { nullable: true })
  entity?: CommsEntityInput | null;

  @Rule({ pattern: REF })
  @Field(() => String, { nullable: true, description: 'Items of one group become one while it is unread.' })
  groupKey?: string | null;
}

@InputType()
export class SendCommsMessageInput extends CommsMessageInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;
}

@InputType()
export class SendCommsMessagesInput extends CommsMessageInput {
  @Rule({ minItems: 1, maxItems: 1000, pattern: UUID })
  @Field(() => [ID])
  userIds: string[];
}

@InputType()
export class CommsMessageFilter {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => CommsChannel, { nullable: true })
  channel?: CommsChannel | null;

  @Field(() => CommsMessageStatus, { nullable: true })
  status?: CommsMessageStatus | null;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  topic?: string | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;

  @Rule({ maxLength: 200 })
  @Field(() => String, { nullable: true })
  dedupeKey?: string | null;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  entityType?: string | null;

  @Rule({ pattern: REF })
  @Field(() => String, { nullable: true })
  entityId?: string | null;
}

@ArgsType()
export class CommsStatsArgs {
  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime)
  to: Date;

  @Field(() => CommsStatsGroup, { defaultValue: CommsStatsGroup.TEMPLATE })
  groupBy: CommsStatsGroup = CommsStatsGroup.TEMPLATE;
}

@ArgsType()
export class CapturedArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => CommsChannel, { nullable: true })
  channel?: CommsChannel | null;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { defaultValue: 20 })
  first: number = 20;
}

@ArgsType()
export class MyMessagesArgs extends PageArgs {
  @Field(() => CommsMessageFilter, { nullable: true })
  filter?: CommsMessageFilter | null;
}
