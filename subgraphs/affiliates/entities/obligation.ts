import { BigIntType } from '@mikro-orm/core';
import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** What a refund says of its obligation, minor units; a bounced one stays bounced. */
@Entity({ tableName: 'obligation_refund' })
@Index({ name: 'obligation_refund_obligation_id', properties: ['obligationType', 'obligationId'] })
export class ObligationRefund {
  @PrimaryKey({ type: 'uuid' })
  refundId: string;

  @Property({ type: 'text' })
  obligationType: string;

  @Property({ type: 'uuid' })
  obligationId: string;

  @Property({ type: new BigIntType('number') })
  amount: number;

  /** Of the amount, what had gone back when this was told. */
  @Property({ type: new BigIntType('number') })
  refunded: number;

  @Property({ type: 'boolean' })
  failed: boolean;

  @Property({ type: 'datetime', length: 3 })
  occurredAt: Date;

  @Property({ type: 'uuid' })
  eventId: string;
}

/** A dispute of an obligation: open while it has no outcome. */
@Entity({ tableName: 'obligation_dispute' })
@Index({ name: 'obligation_dispute_obligation_id', properties: ['obligationType', 'obligationId'] })
export class ObligationDispute {
  @PrimaryKey({ type: 'uuid' })
  disputeId: string;

  @Property({ type: 'text' })
  obligationType: string;

  @Property({ type: 'uuid' })
  obligationId: string;

  @Property({ type: 'text', nullable: true })
  outcome: string | null = null;
}
