import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { HOLDERS } from './access.js';
import { CashMovementKind } from './enums.js';
import { CashReference } from './reference.js';

/** One change of a balance; rows are only ever added. Source: cash 2. */
@Access(HOLDERS)
@ObjectType({ description: 'One change of a balance.' })
@Entity({ tableName: 'cash_movement' })
@Index({ name: 'cash_movement_user_id_at', properties: ['userId', 'at', 'id'] })
export class CashMovement {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => CashMovementKind)
  @Enum({ items: () => CashMovementKind })
  kind: CashMovementKind;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Property({ type: new BigIntType('number'), fieldName: 'balance_after' })
  unitsAfter: number;

  @Property({ type: 'text' })
  referenceType: string;

  @Property({ type: 'uuid' })
  referenceId: string;

  @Property({ type: 'text' })
  referenceKey: string = '';

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  at: Date;

  @Field(() => Money, { description: 'Without a sign; the kind says whether it was added or taken.' })
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }

  @Field(() => Money, { description: 'All that was left, with what was reserved.' })
  get balanceAfter(): Money {
    return { amount: this.unitsAfter, currency: this.currency };
  }

  @Field(() => CashReference)
  get reference(): CashReference {
    return { type: this.referenceType, id: this.referenceId, key: this.referenceKey };
  }
}

export const CashMovementConnection = connectionOf<CashMovement>(CashMovement, 'CashMovement');
