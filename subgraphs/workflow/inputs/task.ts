import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { WorkflowTaskStatus } from '../entities/enums.js';

@ArgsType()
export class WorkflowTasksArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  assigneeRole?: string | null;

  @Field(() => WorkflowTaskStatus, { nullable: true })
  status?: WorkflowTaskStatus | null;

  @Field(() => DateTime, { nullable: true, description: 'Due before.' })
  due?: Date | null;
}

@InputType()
export class CompleteWorkflowTaskInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => JSONObject, { description: "By the task's form." })
  result: unknown;
}
