import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { readDeliveryLog } from '../commands/audited-reads.js';
import { DeliveryLogEvent, DeliveryLogEventConnection } from '../entities/delivery-log.js';
import { DELIVERERS } from '../entities/enums.js';
import { DeliveryLogArgs } from '../inputs/lists.js';

@Resolver(() => DeliveryLogEvent)
export class DeliveryLogResolver {
  @Access(DELIVERERS)
  @Query(() => DeliveryLogEventConnection, {
    description:
      'Relayed events with their payloads in the order of the relay, per user by sequence, without erased ones. Reading is audited.',
  })
  deliveryLog(@Args(() => DeliveryLogArgs) args: DeliveryLogArgs, @Ctx() ctx: Context): Promise<Connection<DeliveryLogEvent>> {
    return readDeliveryLog(ctx, args);
  }
}
