import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, LocalDate, TimeZone } from '../../../runtime/schema/scalars.js';

export enum InterventionKind {
  PROTOCOL = 'protocol',
  STACK = 'stack',
}

export enum InterventionStatus {
  PROPOSED = 'proposed',
  PENDING_CONSULT = 'pending_consult',
  ACTIVE = 'active',
  PAUSED = 'paused',
  COMPLETED = 'completed',
  STOPPED = 'stopped',
  CANCELLED = 'cancelled',
}

export enum InterventionSource {
  MEMBER = 'member',
  STAFF = 'staff',
  PARTNER = 'partner',
}
registerEnums({ InterventionKind, InterventionStatus, InterventionSource });

/** Who may see interventions. */
export const INTERVENTION_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read|admin:clinical:protocols',
  user: 'read:protocols|write:protocols',
  internal: ['workflow'],
} as const;

/** A protocol or stack that runs for a patient; events call its id `protocol_id`. Source: clinical 2. */
@Access(INTERVENTION_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A protocol or stack that runs for a patient.' })
@Entity({ tableName: 'intervention' })
@Index({ name: 'intervention_patient_created', properties: ['patientId', 'createdAt', 'id'] })
@Index({ name: 'intervention_check_in', properties: ['nextCheckInAt'], where: 'next_check_in_at is not null' })
@Index({ name: 'intervention_dose', properties: ['nextDoseAt'], where: 'next_dose_at is not null' })
@Index({ name: 'intervention_end', properties: ['endsAt'], where: "status in ('active', 'paused')" })
@Unique({ name: 'intervention_partner', properties: ['partnerTreatmentRef'], where: 'partner_treatment_ref is not null' })
@Unique({ name: 'intervention_running', properties: ['patientId', 'kind', 'key'], where: "status in ('active', 'paused')" })
export class Intervention {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => InterventionKind)
  @Enum({ items: () => InterventionKind, type: 'string' })
  kind: InterventionKind;

  @Field(() => String, { description: "A protocol's key, or the key of a stack of content." })
  @Property({ type: 'text' })
  key: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Version of the protocol; null for a stack, and for a program that only the partner defines.',
  })
  @Property({ type: 'int', nullable: true })
  definitionVersion: number | null = null;

  @Field(() => InterventionStatus)
  @Enum({ items: () => InterventionStatus, type: 'string' })
  status: InterventionStatus;

  @Field(() => LocalDate)
  @Property({ type: 'date' })
  startedOn: string;

  @Field(() => LocalDate, { nullable: true })
  @Property({ type: 'date', nullable: true })
  plannedEndOn: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  stopReason: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  prescriberId: string | null = null;

  @Field(() => InterventionSource)
  @Enum({ items: () => InterventionSource, type: 'string' })
  source: InterventionSource;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  partnerTreatmentRef: string | null = null;

  /** When the partner reported what was followed last: older reports that come late change nothing. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  partnerReportedAt: Date | null = null;

  @Field(() => TimeZone)
  @Property({ type: 'text' })
  timeZone: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  /** First time it became active, which is when `clinical.protocol.started.v1` was sent. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  activatedAt: Date | null = null;

  /** Instant at which the plan is over, the end of the last day in its time zone. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  endsAt: Date | null = null;

  /** When the next check-in opens, while it is active. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextCheckInAt: Date | null = null;

  /** The next dose that is planned; the one after it is planned then. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextDoseAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;
}

export const InterventionConnection = connectionOf(Intervention, 'Intervention');
