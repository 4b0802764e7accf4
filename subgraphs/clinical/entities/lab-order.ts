import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { PrimaryKeyProp } from '@mikro-orm/postgresql';

/** How far a lab order has come, by the laboratory's reports. Source: clinical 5, consumed. */
@Entity({ tableName: 'lab_order_progress' })
@Index({ name: 'lab_order_progress_patient', properties: ['patientId'] })
@Index({ name: 'lab_order_progress_ask', properties: ['askAt'], where: 'ask_at is not null' })
export class LabOrderProgress {
  @PrimaryKey({ type: 'uuid' })
  labOrderId: string;

  @Property({ type: 'uuid' })
  patientId: string;

  /** As the event has it. */
  @Property({ type: 'text' })
  status: string;

  @Property({ type: 'datetime', length: 3 })
  changedAt: Date;

  /** When labs is asked for the order's markers and specimens; null when there is nothing to ask. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  askAt: Date | null = null;

  /** Times that labs did not answer. */
  @Property({ type: 'int' })
  attempts: number = 0;
}

/** A draw that was made for a lab order: labs' specimen. */
@Entity({ tableName: 'lab_order_draw' })
@Index({ name: 'lab_order_draw_patient', properties: ['patientId'] })
export class LabOrderDraw {
  [PrimaryKeyProp]?: ['labOrderId', 'drawId'];

  @PrimaryKey({ type: 'uuid' })
  labOrderId: string;

  @PrimaryKey({ type: 'uuid' })
  drawId: string;

  @Property({ type: 'uuid' })
  patientId: string;
}

/** A marker whose lab order is under way: its cycles are not prompted meanwhile. Source: clinical rule 7.1.11. */
@Entity({ tableName: 'lab_order_marker' })
@Index({ name: 'lab_order_marker_patient', properties: ['patientId', 'code'] })
export class LabOrderMarker {
  [PrimaryKeyProp]?: ['labOrderId', 'code'];

  @PrimaryKey({ type: 'uuid' })
  labOrderId: string;

  @PrimaryKey({ type: 'text' })
  code: string;

  @Property({ type: 'uuid' })
  patientId: string;

  /** It counts as under way until then, at most 21 days after the laboratory's last report. */
  @Property({ type: 'datetime', length: 3 })
  until: Date;
}
