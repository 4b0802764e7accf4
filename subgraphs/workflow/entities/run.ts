import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { SHOWN, WorkflowRunStatus, WorkflowStepStatus, WorkflowTriggerKind } from './enums.js';

@Access(SHOWN)
@ObjectType({ description: 'What a run waits for.' })
export class WorkflowWaiting {
  @Field(() => String, { description: 'timer, event or task.' })
  kind: string;

  @Field(() => String)
  name: string;

  @Field(() => DateTime, { nullable: true })
  until: Date | null;
}

/** One execution of a definition for one key. Services and staff. Source: workflow 2. */
@Access(SHOWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'One execution of a workflow.' })
@Entity({ tableName: 'workflow_run_meta' })
@Index({ name: 'workflow_run_meta_created_at_id', properties: ['createdAt', 'id'] })
export class WorkflowRun {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'text' })
  engineId: string;

  @Property({ type: 'int' })
  engineNo: number = 0;

  @Property({ type: 'json', nullable: true })
  engineFrom: { id: string; step: number } | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  definitionKey: string;

  @Field(() => Int)
  @Property({ type: 'int' })
  definitionVersion: number;

  @Field(() => String, { description: 'One run of a definition for each.' })
  @Property({ type: 'text' })
  key: string;

  @Field(() => WorkflowRunStatus)
  @Enum({ items: () => WorkflowRunStatus })
  status: WorkflowRunStatus = WorkflowRunStatus.PENDING;

  @Field(() => WorkflowTriggerKind)
  @Enum({ items: () => WorkflowTriggerKind })
  trigger: WorkflowTriggerKind;

  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Field(() => JSONObject, { nullable: true })
  @Property({ type: 'json', nullable: true, comment: PERSONAL })
  input: unknown = null;

  @Field(() => JSONObject, { nullable: true, description: 'Ids, codes and counts.' })
  @Property({ type: 'json', nullable: true, comment: PERSONAL })
  output: unknown = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  @Property({ type: 'text', nullable: true })
  waitingKind: string | null = null;

  @Property({ type: 'text', nullable: true })
  waitingName: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  waitingUntil: Date | null = null;

  @Property({ type: 'text', nullable: true })
  waitingTopic: string | null = null;

  /** When the run fails if it has not ended; `timeoutDays` of its definition after its start. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  deadlineAt: Date | null = null;

  /** The event that started it. */
  @Property({ type: 'uuid', nullable: true })
  causeId: string | null = null;

  @Field(() => Int, { description: 'Attempts of its steps so far.' })
  @Property({ type: 'int' })
  attempts: number = 0;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  parentId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  forkedFrom: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  errorCode: string | null = null;

  @Property({ type: 'text', nullable: true })
  executor: string | null = null;

  @Property({ type: 'boolean' })
  cancelPending: boolean = false;

  @Property({ type: 'boolean' })
  versionAlarmed: boolean = false;
}

export const WorkflowRunConnection = connectionOf<WorkflowRun>(WorkflowRun, 'WorkflowRun');

@Access(SHOWN)
@ObjectType({ description: 'A step of a run; a finished one never runs again.' })
export class WorkflowStep {
  @Field(() => Int)
  index: number;

  @Field(() => String)
  name: string;

  @Field(() => WorkflowStepStatus)
  status: WorkflowStepStatus;

  @Field(() => Int)
  attempts: number;

  @Field(() => DateTime)
  startedAt: Date;

  @Field(() => DateTime, { nullable: true })
  finishedAt: Date | null;

  @Field(() => String, { nullable: true, description: 'SHA-256 of its output.' })
  outputDigest: string | null;

  @Field(() => String, { nullable: true })
  errorCode: string | null;

  @Field(() => ID, { nullable: true })
  childRunId: string | null;
}
