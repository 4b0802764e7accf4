import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { VIEWERS } from './access.js';

export enum TimelineSource {
  PAYMENTS = 'payments',
  PROCESSOR = 'processor',
  ACCOUNTING = 'accounting',
  AFFILIATES = 'affiliates',
  ENTITLEMENTS = 'entitlements',
}

registerEnums({ TimelineSource }, { TimelineSource: 'Who tells it.' });

/** One thing that happened to a payment. */
@Access(VIEWERS)
@ObjectType({ description: 'One thing that happened to a payment.' })
export class TimelineEntry {
  @Field(() => DateTime)
  at: Date;

  @Field(() => TimelineSource)
  source: TimelineSource;

  @Field(() => String, { description: 'For example attempt_failed, refund_succeeded, ledger_posted.' })
  kind: string;

  @Field(() => ID, { description: 'Of the attempt, refund, dispute, event or transaction.' })
  id: string;

  @Field(() => Money, { nullable: true })
  amount: Money | null;
}

/** Everything that happened to a payment, across services. Source: payments 9.1. */
@Access(VIEWERS)
@ObjectType({ description: 'Everything that happened to a payment, across services.' })
export class PaymentTimeline {
  @Field(() => ID)
  paymentId: string;

  @Field(() => [TimelineEntry], { description: 'Oldest first.' })
  entries: TimelineEntry[];

  @Field(() => [TimelineSource], { description: 'Services that could not be asked, or are not there.' })
  omitted: TimelineSource[];
}
