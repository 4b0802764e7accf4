import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** When an encounter of patient-graph began, so that its results are known from others. Source: clinical 6. */
@Entity({ tableName: 'encounter_period' })
@Index({ name: 'encounter_period_patient', properties: ['patientId'] })
export class EncounterPeriod {
  @PrimaryKey({ type: 'uuid' })
  encounterId: string;

  @Property({ type: 'uuid' })
  patientId: string;

  @Property({ type: 'datetime', length: 3 })
  startsAt: Date;
}

/** A report of the telehealth partner that was taken: its own id keeps a repetition out. Source: clinical 5, consumed. */
@Entity({ tableName: 'partner_report' })
@Index({ name: 'partner_report_patient', properties: ['patientId'] })
export class PartnerReport {
  @PrimaryKey({ type: 'text' })
  partnerEventId: string;

  @Property({ type: 'uuid' })
  patientId: string;

  @Property({ type: 'datetime', length: 3 })
  reportedAt: Date;
}
