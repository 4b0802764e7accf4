import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { SPEND_READERS } from './access.js';
import { CashReference } from './reference.js';

/** Cash that has settled a part of an obligation. Source: cash 2. */
@Access(SPEND_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Cash that has settled something.' })
@Entity({ tableName: 'cash_spend' })
@Check({ name: 'cash_spend_returned_check', expression: 'returned between 0 and amount' })
@Unique({ name: 'cash_spend_reference', properties: ['referenceType', 'referenceId'] })
@Index({ name: 'cash_spend_user_id_created_at', properties: ['userId', 'createdAt', 'id'] })
export class CashSpend {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Property({ type: new BigIntType('number'), fieldName: 'returned' })
  givenBack: number = 0;

  @Property({ type: 'text' })
  referenceType: string;

  @Property({ type: 'uuid' })
  referenceId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }

  @Field(() => Money, { description: 'What refunds have given back of it.' })
  get returned(): Money {
    return { amount: this.givenBack, currency: this.currency };
  }

  @Field(() => CashReference)
  get reference(): CashReference {
    return { type: this.referenceType, id: this.referenceId, key: '' };
  }
}

/** What a spend has taken of one grant. */
@Entity({ tableName: 'cash_spend_lot' })
@Check({ name: 'cash_spend_lot_returned_check', expression: 'returned between 0 and amount' })
@Unique({ name: 'cash_spend_lot_position', properties: ['spendId', 'position'] })
@Index({ name: 'cash_spend_lot_grant_id', properties: ['grantId'] })
export class CashSpendLot {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  spendId: string;

  @Property({ type: 'uuid' })
  grantId: string;

  /** In the order of spending, from 0. */
  @Property({ type: 'integer' })
  position: number;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Property({ type: new BigIntType('number'), fieldName: 'returned' })
  givenBack: number = 0;
}
