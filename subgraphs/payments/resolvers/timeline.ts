import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { PAYMENT_READERS } from '../entities/access.js';
import { PaymentTimeline } from '../entities/timeline.js';
import { timelineOf } from '../queries/timeline.js';

@Resolver(() => PaymentTimeline)
export class TimelineResolver {
  @Access(PAYMENT_READERS)
  @Query(() => PaymentTimeline, { description: 'Everything that happened to a payment, across services, oldest first.' })
  paymentTimeline(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<PaymentTimeline> {
    return timelineOf(ctx, id);
  }
}
