import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { DecimalType } from '@mikro-orm/postgresql';
import { Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, LocalDate, Quantity } from '../../../runtime/schema/scalars.js';

export enum VialStatus {
  NEW = 'new',
  IN_USE = 'in_use',
  DISCARDED = 'discarded',
}

export enum VialDiscardReason {
  USED_UP = 'used_up',
  EXPIRED = 'expired',
  DAMAGED = 'damaged',
  LOST = 'lost',
  OTHER = 'other',
}
registerEnums({ VialStatus, VialDiscardReason });

/** Days that a vial keeps in use unless it is set. */
export const DEFAULT_STABILITY_DAYS = 28;

/** Who may see vials. */
export const VIAL_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read|admin:clinical:protocols',
  user: 'read:protocols|write:protocols',
  internal: ['patient-graph'],
} as const;

/** A container of a product that a patient doses from. Source: clinical 2, 3. */
@Access(VIAL_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A container of a product that a patient doses from.' })
@Entity({ tableName: 'vial' })
@Index({ name: 'vial_patient', properties: ['patientId', 'createdAt', 'id'] })
@Unique({ name: 'vial_source', properties: ['sourceRef'], where: 'source_ref is not null' })
@Index({ name: 'vial_expiry', properties: ['expiresAt'], where: "status <> 'discarded'" })
export class Vial {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  productCode: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  lot: string | null = null;

  @Field(() => ID, { nullable: true, description: 'Certificate of analysis.' })
  @Property({ type: 'uuid', nullable: true })
  coaId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  interventionId: string | null = null;

  @Field(() => VialStatus)
  @Enum({ items: () => VialStatus, type: 'string' })
  status: VialStatus = VialStatus.NEW;

  @Field(() => Quantity, { nullable: true })
  @Property({ type: 'json', nullable: true })
  content: Quantity | null = null;

  @Field(() => Float, { nullable: true })
  @Property({ type: new DecimalType('number'), columnType: 'numeric', nullable: true })
  diluentMl: number | null = null;

  @Field(() => Int, { description: 'Days that it keeps once it is in use.' })
  @Property({ type: 'smallint' })
  stabilityDays: number;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  reconstitutedAt: Date | null = null;

  @Field(() => LocalDate)
  @Property({ type: 'date' })
  expiresOn: string;

  @Field(() => LocalDate, { nullable: true, description: 'Reconstitution plus stability, at most the expiry.' })
  @Property({ type: 'date', nullable: true })
  beyondUseOn: string | null = null;

  /** Instant at which the timer discards it: the end of the last day. */
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Field(() => Int)
  @Property({ type: 'int' })
  dosesPlanned: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  dosesRemaining: number;

  @Field(() => VialDiscardReason, { nullable: true })
  @Enum({ items: () => VialDiscardReason, type: 'string', nullable: true })
  discardReason: VialDiscardReason | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  discardedAt: Date | null = null;

  /** What made it, so that a repeated delivery makes no second one. */
  @Property({ type: 'text', nullable: true })
  sourceRef: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;
}

export const VialConnection = connectionOf(Vial, 'Vial');
