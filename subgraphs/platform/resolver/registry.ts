import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access.js';
import { Context } from '../../../runtime/context.js';
import { PlatformService } from '../entities/registry.js';
import { PlatformServicesArgs } from '../inputs.js';

@Resolver(() => PlatformService)
export class RegistryResolver {
  @Access({ service: '*', user: '*' })
  @Query(() => [PlatformService], { description: 'The services of the suite by slug.' })
  platformServices(
    @Args(() => PlatformServicesArgs) { maturity, productionReady }: PlatformServicesArgs,
    @Ctx() ctx: Context,
  ): Promise<PlatformService[]> {
    const where = { ...(maturity && { maturity }), ...(productionReady != null && { productionReady }) };
    return ctx.em.find(PlatformService, where, { orderBy: { slug: 'asc' } });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => PlatformService, { nullable: true })
  platformService(@Arg('slug', () => String) slug: string, @Ctx() ctx: Context): Promise<PlatformService | null> {
    return ctx.em.findOne(PlatformService, { slug });
  }
}
