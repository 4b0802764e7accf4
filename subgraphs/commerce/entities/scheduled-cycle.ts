import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { ScheduledOrderStatus } from './enums.js';

/** What comes with an order; minor units. */
export interface ScheduledLine {
  /** Of the subscription's item. */
  itemId: string;
  variantId: string;
  quantity: number;
  unitPrice: number;
  discountBps: number;
}

/** A cycle of a subscription that was decided on: the next one, one that was left out, one that is over. Later ones follow from the cadence. */
@Entity({ tableName: 'scheduled_order' })
export class ScheduledCycle {
  /** Follows from subscription and cycle, so that it is the same before there is a row; see `cycleId`. */
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Property({ type: 'integer' })
  cycleIndex: number;

  @Property({ type: 'date' })
  orderOn: string;

  /** The instant of its order: 09:00 in the subscription's zone. */
  @Property({ type: 'datetime', length: 3 })
  dueAt: Date;

  @Enum({ items: () => ScheduledOrderStatus })
  status: ScheduledOrderStatus = ScheduledOrderStatus.SCHEDULED;

  /** What comes this once; null: what the subscription has. */
  @Property({ type: 'json', nullable: true })
  items: ScheduledLine[] | null = null;

  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  /** Attempts to have it paid that are over. */
  @Property({ type: 'integer' })
  attempts: number = 0;

  /** When the worker looks at it next; null: nothing is to be done, or payments will tell. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextAttemptAt: Date | null = null;

  @Property({ type: 'text', nullable: true })
  failureCode: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
