import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { BACK_OFFICE } from './access.js';
import { ProcessorEventStatus } from './enums-operations.js';
import { PaymentProcessor } from './enums-payment.js';

/** A webhook of the processor: a hint to read its object again. The body is sealed and kept 400 days. Source: payments 2, 4.5. */
@Access(BACK_OFFICE)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A webhook of the processor.' })
@Entity({ tableName: 'processor_event' })
export class ProcessorEvent {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => PaymentProcessor)
  @Enum({ items: () => PaymentProcessor })
  processor: PaymentProcessor;

  @Field(() => String)
  @Property({ type: 'text' })
  processorEventId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  type: string;

  @Property({ type: 'text', nullable: true })
  objectRef: string | null = null;

  @Property({ type: 'blob', nullable: true })
  bodySealed: Buffer | null = null;

  @Field(() => ProcessorEventStatus)
  @Enum({ items: () => ProcessorEventStatus })
  status: ProcessorEventStatus = ProcessorEventStatus.RECEIVED;

  @Field(() => Int)
  @Property({ type: 'integer' })
  attempts: number = 0;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  receivedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  processedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextAttemptAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  error: string | null = null;
}

export const ProcessorEventConnection = connectionOf<ProcessorEvent>(ProcessorEvent, 'ProcessorEvent');

/** An object of the sandbox, which has a connection of its own: payments' code never reads it. Source: payments 8. */
@Entity({ tableName: 'processor_object' })
export class ProcessorObject {
  @PrimaryKey({ type: 'text' })
  id: string;

  @Property({ type: 'text' })
  kind: string;

  @Property({ type: 'text', nullable: true })
  idempotencyKey: string | null = null;

  @Property({ type: 'text', nullable: true })
  parentId: string | null = null;

  @Property({ type: 'json' })
  data: unknown;

  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;
}
