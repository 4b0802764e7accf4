import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { CHECKOUTS } from './access.js';
import { CashReservationStatus } from './enums.js';
import { CashReference } from './reference.js';

/** Cash that a checkout holds, so that it neither goes elsewhere nor expires. Source: cash 2 and 3. */
@Access(CHECKOUTS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Cash that a checkout holds.' })
@Entity({ tableName: 'cash_reservation' })
@Check({ name: 'cash_reservation_amount_check', expression: 'amount between 0 and asked' })
@Unique({ name: 'cash_reservation_live', properties: ['referenceType', 'referenceId'], where: "status = 'held'" })
@Index({ name: 'cash_reservation_held_user_id', properties: ['userId', 'currency'], where: "status = 'held'" })
@Index({ name: 'cash_reservation_ending', properties: ['expiresAt'], where: "status = 'held'" })
export class CashReservation {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'character', length: 3 })
  currency: string;

  /** The most that was wanted, minor units. */
  @Property({ type: new BigIntType('number') })
  asked: number;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  /** As the last write left it; a held one ends by time before the sweep ends it. */
  @Enum({ items: () => CashReservationStatus, fieldName: 'status' })
  state: CashReservationStatus = CashReservationStatus.HELD;

  @Property({ type: 'text' })
  referenceType: string;

  @Property({ type: 'uuid' })
  referenceId: string;

  @Property({ type: 'uuid', nullable: true })
  spendId: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { description: 'The first instant at which it holds no more.' })
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }

  @Field(() => CashReference)
  get reference(): CashReference {
    return { type: this.referenceType, id: this.referenceId, key: '' };
  }
}

/** What a reservation holds of one grant. */
@Entity({ tableName: 'cash_reservation_lot' })
@Unique({ name: 'cash_reservation_lot_position', properties: ['reservationId', 'position'] })
@Index({ name: 'cash_reservation_lot_grant_id', properties: ['grantId'] })
export class CashReservationLot {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  reservationId: string;

  @Property({ type: 'uuid' })
  grantId: string;

  /** In the order of spending, from 0. */
  @Property({ type: 'integer' })
  position: number;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;
}
