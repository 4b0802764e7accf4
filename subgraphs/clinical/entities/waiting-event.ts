import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** What a waiting event tells of. */
export enum WaitingEventKind {
  RED_FLAG = 'red_flag',
  RETEST_CYCLE = 'retest_cycle',
}

/** An event that would tell what is kept from the member for now; it is emitted when the value is shown. Source: clinical 7.3.2. */
@Entity({ tableName: 'waiting_event' })
@Index({ name: 'waiting_event_patient', properties: ['patientId'] })
@Index({ name: 'waiting_event_due', properties: ['until'] })
export class WaitingEvent {
  /** Of the flag or cycle. */
  @PrimaryKey({ type: 'uuid' })
  subjectId: string;

  @Property({ type: 'uuid' })
  patientId: string;

  @Enum({ items: () => WaitingEventKind, type: 'string' })
  kind: WaitingEventKind;

  /** When it is emitted at the latest. */
  @Property({ type: 'datetime', length: 3 })
  until: Date;
}
