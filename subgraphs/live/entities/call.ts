import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { CALL_SHOWN } from './access.js';
import { LiveCallEndReason, LiveCallKind, LiveCallParticipantState, LiveCallReferenceType, LiveCallRole, LiveCallStatus } from './enums.js';

@ObjectType({ description: 'Somebody who may be in a call.' })
export class LiveCallMember {
  @Field(() => ID)
  userId: string;

  @Field(() => LiveCallRole)
  role: LiveCallRole;

  @Field(() => LiveCallParticipantState)
  state: LiveCallParticipantState;

  @Field(() => DateTime, { nullable: true })
  joinedAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  leftAt: Date | null;
}

@ObjectType({ description: 'What a call is about.' })
export class LiveCallReference {
  @Field(() => LiveCallReferenceType)
  type: LiveCallReferenceType;

  @Field(() => ID, { nullable: true })
  id: string | null;
}

/** A call of two or more; never recorded. Source: live 2. */
@Access(CALL_SHOWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A call of two or more people.' })
@Entity({ tableName: 'live_call' })
@Check({ name: 'live_call_window_check', expression: "closes_at > opens_at and closes_at <= opens_at + interval '8 hours'" })
@Unique({
  name: 'live_call_reference',
  properties: ['referenceType', 'referenceId'],
  where: "reference_type <> 'none' and status in ('created', 'active')",
})
@Index({ name: 'live_call_open', properties: ['closesAt'], where: "status in ('created', 'active')" })
export class LiveCall {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => LiveCallKind)
  @Enum({ items: () => LiveCallKind })
  kind: LiveCallKind;

  @Field(() => LiveCallStatus)
  @Enum({ items: () => LiveCallStatus })
  status: LiveCallStatus = LiveCallStatus.CREATED;

  @Enum({ items: () => LiveCallReferenceType })
  referenceType: LiveCallReferenceType = LiveCallReferenceType.NONE;

  @Property({ type: 'uuid', nullable: true })
  referenceId: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  opensAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  closesAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Field(() => LiveCallEndReason, { nullable: true })
  @Enum({ items: () => LiveCallEndReason, nullable: true })
  endReason: LiveCallEndReason | null = null;

  /** Two were in it at once; from then on one alone ends it. */
  @Property({ type: 'boolean', default: false })
  hadTwo: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  aloneSince: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  emptySince: Date | null = null;

  @Property({ type: 'text' })
  createdBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1 })
  version: number = 1;

  @Field(() => LiveCallReference)
  get reference(): LiveCallReference {
    return { type: this.referenceType, id: this.referenceId };
  }

  @Field(() => Int, { nullable: true })
  get durationSeconds(): number | null {
    return this.startedAt && this.endedAt ? Math.round((this.endedAt.getTime() - this.startedAt.getTime()) / 1000) : null;
  }
}

@Entity({ tableName: 'live_call_participant' })
@Index({ name: 'live_call_participant_user_id', properties: ['userId'] })
export class LiveCallParticipant {
  @PrimaryKey({ type: 'uuid' })
  callId: string;

  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Enum({ items: () => LiveCallRole })
  role: LiveCallRole;

  @Enum({ items: () => LiveCallParticipantState })
  state: LiveCallParticipantState = LiveCallParticipantState.INVITED;

  @Property({ type: 'datetime', length: 3, nullable: true })
  joinedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  leftAt: Date | null = null;
}
