import { Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { BusHealth } from '../entities/bus.js';
import { READERS } from '../entities/enums.js';
import { busHealth } from '../queries/bus.js';

@Resolver(() => BusHealth)
export class BusResolver {
  @Access(READERS)
  @Query(() => BusHealth)
  busHealth(@Ctx() ctx: Context): Promise<BusHealth> {
    return busHealth(ctx);
  }
}
