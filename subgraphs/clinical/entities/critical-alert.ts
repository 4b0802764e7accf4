import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

export enum CriticalAlertSeverity {
  CRITICAL = 'critical',
  PANIC = 'panic',
}

export enum CriticalAlertStatus {
  OPEN = 'open',
  ACKNOWLEDGED = 'acknowledged',
  ESCALATED = 'escalated',
  CLOSED = 'closed',
}

export enum CriticalAlertContactOutcome {
  REACHED = 'reached',
  LEFT_MESSAGE = 'left_message',
  NO_ANSWER = 'no_answer',
}
registerEnums({ CriticalAlertSeverity, CriticalAlertStatus, CriticalAlertContactOutcome });

@ObjectType({ description: 'One try to reach the patient.' })
export class CriticalAlertContact {
  @Field(() => DateTime)
  at: Date;

  @Field(() => String, { description: 'Who tried.' })
  by: string;

  @Field(() => CriticalAlertContactOutcome)
  outcome: CriticalAlertContactOutcome;
}

/** Never for user tokens. */
export const ALERT_READERS = { service: 'admin:clinical', staff: 'admin:clinical:alerts', internal: ['workflow'] } as const;

/** A result beyond a CRITICAL or PANIC limit, which a clinician must acknowledge in time. Source: clinical 2, 7.3.2. */
@Access(ALERT_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A result beyond a critical limit, until a clinician has dealt with it.' })
@Entity({ tableName: 'critical_alert' })
@Unique({ name: 'critical_alert_observation', properties: ['observationId'] })
@Index({ name: 'critical_alert_created', properties: ['createdAt', 'id'] })
@Index({ name: 'critical_alert_patient', properties: ['patientId', 'createdAt', 'id'] })
@Index({ name: 'critical_alert_open', properties: ['acknowledgeBy'], where: "status = 'open'" })
export class CriticalAlert {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  observationId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  code: string;

  @Field(() => CriticalAlertSeverity)
  @Enum({ items: () => CriticalAlertSeverity, type: 'string' })
  severity: CriticalAlertSeverity;

  @Field(() => CriticalAlertStatus)
  @Enum({ items: () => CriticalAlertStatus, type: 'string' })
  status: CriticalAlertStatus = CriticalAlertStatus.OPEN;

  @Field(() => DateTime, { description: 'After this it is escalated: 1 h for PANIC, 4 h for CRITICAL.' })
  @Property({ type: 'datetime', length: 3 })
  acknowledgeBy: Date;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  acknowledgedBy: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  acknowledgedAt: Date | null = null;

  @Property({ type: 'json' })
  contactLog: { at: string; by: string; outcome: CriticalAlertContactOutcome }[] = [];

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  closedReason: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => [CriticalAlertContact])
  contacts(): CriticalAlertContact[] {
    return this.contactLog.map(one => ({ ...one, at: new Date(one.at) }));
  }
}

export const CriticalAlertConnection = connectionOf(CriticalAlert, 'CriticalAlert');
