import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { PrimaryKeyProp } from '@mikro-orm/postgresql';

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

  /** It counts as under way until then, at most 21 days after the last word of the laboratory. */
  @Property({ type: 'datetime', length: 3 })
  until: Date;
}
