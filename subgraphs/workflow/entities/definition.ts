import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS, SHOWN, WorkflowTriggerKind } from './enums.js';

@Access(SHOWN)
@ObjectType({ description: 'What starts a run.' })
export class WorkflowTrigger {
  @Field(() => ID)
  definitionKey: string;

  @Field(() => WorkflowTriggerKind)
  kind: WorkflowTriggerKind;

  @Field(() => String, { nullable: true })
  cron: string | null;

  @Field(() => String, { nullable: true })
  timeZone: string | null;

  @Field(() => String, { nullable: true })
  eventType: string | null;

  @Field(() => JSONObject, { nullable: true, description: "Values that fields of the event's data must have." })
  filter: object | null;

  @Field(() => String, { description: 'Key of the run, with what it is made of in braces.' })
  keyExpr: string;

  @Field(() => DateTime, { nullable: true })
  nextAt: Date | null;
}

/** A process that stands in code; `enabled` is the operator's switch. Source: workflow 2. */
@Access(SHOWN)
@Directive('@key(fields: "key")')
@ObjectType({ description: 'A durable process of several steps.' })
@Entity({ tableName: 'workflow_definition' })
export class WorkflowDefinition {
  @Field(() => ID)
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => Int)
  @Property({ type: 'int' })
  version: number;

  @Field(() => Boolean, { description: 'Off: no new runs, open ones go on.' })
  @Property({ type: 'boolean' })
  enabled: boolean;

  @Property({ type: 'datetime', length: 3 })
  registeredAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastSuccessAt: Date | null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  alarmedAt: Date | null;
}

@Access(READERS)
@ObjectType({ description: 'When a workflow is started by time alone.' })
export class WorkflowSchedule {
  @Field(() => ID)
  definitionKey: string;

  @Field(() => String)
  cron: string;

  @Field(() => String)
  timeZone: string;

  @Field(() => DateTime, { nullable: true })
  nextAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  lastAt: Date | null;

  @Field(() => Int, { description: 'Occurrences that were noticed too late and started no run.' })
  misses: number;
}
