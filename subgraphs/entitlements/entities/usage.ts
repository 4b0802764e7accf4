import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** What a user has used of a feature in a period; a period that never ends begins at 1970-01-01. */
@Entity({ tableName: 'usage_counter' })
@Check({ name: 'usage_counter_used_check', expression: 'used >= 0' })
export class UsageCounter {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @PrimaryKey({ type: 'text' })
  featureKey: string;

  @PrimaryKey({ type: 'datetime', length: 3 })
  periodStart: Date;

  @Property({ type: new BigIntType('number') })
  used: number;
}

/** One use, by the caller's idempotency key; kept for the counter's period. */
@Entity({ tableName: 'usage_event' })
@Check({ name: 'usage_event_amount_check', expression: 'amount > 0' })
export class UsageEvent {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @PrimaryKey({ type: 'text' })
  featureKey: string;

  @PrimaryKey({ type: 'datetime', length: 3 })
  periodStart: Date;

  @PrimaryKey({ type: 'text' })
  idempotencyKey: string;

  @Property({ type: new BigIntType('number') })
  amount: number;

  @Property({ type: 'datetime', length: 3 })
  at: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  returnedAt: Date | null = null;
}
