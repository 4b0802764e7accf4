import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { ASSIGNEES, WorkflowTaskStatus } from './enums.js';

@ObjectType({ description: 'What a task is about, in the service that has it.' })
export class WorkflowTaskSubject {
  @Field(() => String, { description: '`critical_alert`, `red_flag`, `consult`, `conversation` or `intervention`.' })
  type: string;

  @Field(() => ID)
  id: string;
}

/** A person's decision. It shows ids; what they mean is asked of their service with the person's own token. Source: workflow 2, 7.10. */
@Access(ASSIGNEES)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A decision that a run waits for.' })
@Entity({ tableName: 'workflow_task' })
@Index({ name: 'workflow_task_created_at_id', properties: ['createdAt', 'id'] })
export class WorkflowTask {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  runId: string;

  /** Engine id and topic of the wait. */
  @Property({ type: 'text' })
  engineId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => String)
  @Property({ type: 'text' })
  kind: string;

  @Property({ type: 'text', nullable: true })
  subjectType: string | null = null;

  @Property({ type: 'text', nullable: true })
  subjectId: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  assigneeRole: string | null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  assigneeId: string | null;

  /** What staff must hold besides being the assignee. */
  @Property({ type: 'text', nullable: true })
  permission: string | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null;

  @Field(() => WorkflowTaskStatus)
  @Enum({ items: () => WorkflowTaskStatus })
  status: WorkflowTaskStatus;

  @Field(() => JSONObject, { description: 'JSON Schema of the result.' })
  @Property({ type: 'json' })
  form: object;

  @Field(() => JSONObject, { nullable: true })
  @Property({ type: 'json', nullable: true })
  result: unknown;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  claimedBy: string | null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  completedBy: string | null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;

  @Field(() => WorkflowTaskSubject, { nullable: true, description: 'Null for a task of before subjects were kept, and after an erasure.' })
  subject(): WorkflowTaskSubject | null {
    return this.subjectType === null || this.subjectId === null ? null : { type: this.subjectType, id: this.subjectId };
  }
}

export const WorkflowTaskConnection = connectionOf<WorkflowTask>(WorkflowTask, 'WorkflowTask');
