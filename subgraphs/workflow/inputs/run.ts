import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { WorkflowRunStatus } from '../entities/enums.js';

const REASON = { minLength: 1, maxLength: 500, pattern: NOT_BLANK } as const;

@InputType()
export class StartWorkflowInput {
  @Rule({ maxLength: 64 })
  @Field(() => String, { description: 'Of the definition.' })
  definition: string;

  @Rule({ minLength: 1, maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true, description: 'One run for each; default: a new one.' })
  key?: string | null;

  @Field(() => JSONObject, { nullable: true, description: "Ids and codes, by the definition's schema; default {}." })
  input?: unknown;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@ArgsType()
export class WorkflowRunsArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  definition?: string | null;

  @Field(() => [WorkflowRunStatus], { nullable: true })
  status?: WorkflowRunStatus[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'timer, event or task.' })
  waitingFor?: string | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}

@InputType()
export class OperateWorkflowRunInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType()
export class ForkWorkflowRunInput extends OperateWorkflowRunInput {
  @Rule({ min: 1, max: 1000 })
  @Field(() => Int, { description: 'The first step that runs again; those before it are copied.' })
  step: number;
}

@InputType()
export class SignalWorkflowRunInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { description: 'What the run waits for.' })
  name: string;

  @Field(() => JSONObject, { nullable: true })
  payload?: unknown;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { description: 'The same one is not sent again.' })
  idempotencyKey: string;
}
