import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum ErasureRequestScope {
  FULL = 'full',
  HEALTH = 'health',
  MARKETING = 'marketing',
}

export enum ErasureRequestStatus {
  SCHEDULED = 'scheduled',
  ON_HOLD = 'on_hold',
  IN_PROGRESS = 'in_progress',
  PARTIAL = 'partial',
  COMPLETED = 'completed',
  CANCELLED = 'cancelled',
  REJECTED = 'rejected',
}

export enum ErasureRequestOrigin {
  USER = 'user',
  STAFF = 'staff',
  SERVICE = 'service',
}

export enum ErasureTaskStatus {
  PENDING = 'pending',
  CONFIRMED = 'confirmed',
  FAILED = 'failed',
}

export enum ErasureTaskOutcome {
  ERASED = 'erased',
  ANONYMISED = 'anonymised',
  RETAINED = 'retained',
  NOTHING_HELD = 'nothing_held',
}
registerEnums(
  { ErasureRequestScope, ErasureRequestStatus, ErasureRequestOrigin, ErasureTaskStatus, ErasureTaskOutcome },
  {
    ErasureRequestScope: 'FULL ends the account; it lives on with the others.',
    ErasureRequestStatus: 'From IN_PROGRESS there is no way back.',
  },
);

const RULE = { service: 'admin:identity', user: 'read:account', staff: 'admin:identity:erasure', internal: true } as const;

/** A request that a user's data be erased; outlives the account. */
@Access(RULE)
@Directive('@key(fields: "id")')
@ObjectType({ description: "A request that a user's data be erased." })
@Entity({ tableName: 'erasure_request' })
export class ErasureRequest {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => ErasureRequestScope)
  @Enum({ items: () => ErasureRequestScope, type: 'text' })
  scope: ErasureRequestScope;

  @Field(() => ErasureRequestStatus)
  @Enum({ items: () => ErasureRequestStatus, type: 'text' })
  status: ErasureRequestStatus;

  @Field(() => ErasureRequestOrigin)
  @Enum({ items: () => ErasureRequestOrigin, type: 'text' })
  origin: ErasureRequestOrigin;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  reason: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  holdReason: string | null = null;

  @Field(() => DateTime, { description: 'When it begins, unless cancelled or put on hold.' })
  @Property({ type: 'datetime', length: 3 })
  scheduledFor: Date;

  @Field(() => DateTime, { description: '30 days after the request.' })
  @Property({ type: 'datetime', length: 3 })
  dueBy: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  completedAt: Date | null = null;

  @Field(() => String, { nullable: true, description: 'JWS over dates and outcomes, without personal data; on completion.' })
  @Property({ type: 'text', nullable: true })
  receipt: string | null = null;

  @Property({ type: 'blob' })
  receiptTokenHash: Buffer;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1, version: true })
  version: number;

  @Field(() => Url, { nullable: true, description: 'Public address of the receipt; in the answer that made the request alone.' })
  @Property({ type: 'text', persist: false })
  receiptUrl?: string | null = null;
}

@Access(RULE)
@ObjectType({ description: 'What one service has to erase.' })
@Entity({ tableName: 'erasure_task' })
export class ErasureTask {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => ErasureRequest, fieldName: 'request_id' })
  request: ErasureRequest;

  @Field(() => String, { description: 'Slug.' })
  @Property({ type: 'text' })
  service: string;

  @Field(() => ErasureTaskStatus)
  @Enum({ items: () => ErasureTaskStatus, type: 'text', default: ErasureTaskStatus.PENDING })
  status: ErasureTaskStatus = ErasureTaskStatus.PENDING;

  @Field(() => ErasureTaskOutcome, { nullable: true })
  @Enum({ items: () => ErasureTaskOutcome, type: 'text', nullable: true })
  outcome: ErasureTaskOutcome | null = null;

  @Field(() => String, { nullable: true, description: 'Law or contract; with RETAINED.' })
  @Property({ type: 'text', nullable: true })
  retainedBasis: string | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  records: number | null = null;

  @Field(() => Int, { description: 'How often the service was asked.' })
  @Property({ type: 'integer', default: 1 })
  attempts: number = 1;

  @Property({ type: 'datetime', length: 3 })
  askedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  confirmedAt: Date | null = null;
}

@Access({ public: true })
@ObjectType({ description: 'What the holder of a receipt address may know.' })
export class ErasureReceipt {
  @Field(() => ErasureRequestStatus)
  status: ErasureRequestStatus;

  @Field(() => DateTime)
  scheduledFor: Date;

  @Field(() => DateTime, { nullable: true })
  completedAt: Date | null;

  @Field(() => String, { nullable: true })
  receipt: string | null;
}
