import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** The lock of one user's cash in one currency, with its running totals, minor units. Source: cash 2 and 7.5. */
@Entity({ tableName: 'cash_account' })
@Check({
  name: 'cash_account_totals_check',
  expression: 'least(granted, spent, expired, revoked, reserved) >= 0 and reserved <= granted - spent - expired - revoked',
})
export class CashAccount {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @PrimaryKey({ type: 'character', length: 3 })
  currency: string;

  @Property({ type: new BigIntType('number') })
  granted: number = 0;

  @Property({ type: new BigIntType('number') })
  spent: number = 0;

  @Property({ type: new BigIntType('number') })
  expired: number = 0;

  @Property({ type: new BigIntType('number') })
  revoked: number = 0;

  /** Part of the total that live reservations hold. */
  @Property({ type: new BigIntType('number') })
  reserved: number = 0;

  @Property({ type: 'integer' })
  version: number = 0;

  /** Version that was compared with the books last. */
  @Property({ type: 'integer' })
  checkedVersion: number = 0;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3 })
  changedAt: Date;
}

/** What is left of all that was given: the balance of events and movements. */
export const totalOf = ({ granted, spent, expired, revoked }: CashAccount): number => granted - spent - expired - revoked;
