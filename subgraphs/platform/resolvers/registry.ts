import { Arg, Args, Ctx, FieldResolver, Float, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { updateService } from '../commands/registry.js';
import { ANYBODY, INSIDERS, REGISTRY_OPERATORS } from '../entities/access.js';
import { HealthIncident, ServiceHealth } from '../entities/health.js';
import { PlatformService } from '../entities/registry.js';
import { PlatformServicesArgs } from '../inputs/lists.js';
import { UpdatePlatformServiceInput } from '../inputs/registry.js';
import { healthOf, incidentsOf, isInsider, servicesBy, uptimesOf } from '../queries/health.js';

@Resolver(() => PlatformService)
export class RegistryResolver {
  @Access(ANYBODY)
  @Query(() => [PlatformService], { description: 'The services of the suite by slug.' })
  platformServices(@Args(() => PlatformServicesArgs) args: PlatformServicesArgs, @Ctx() ctx: Context): Promise<PlatformService[]> {
    return servicesBy(ctx, args);
  }

  @Access(ANYBODY)
  @Query(() => PlatformService, { nullable: true })
  platformService(@Arg('slug', () => String) slug: string, @Ctx() ctx: Context): Promise<PlatformService | null> {
    return ctx.em.findOne(PlatformService, { slug });
  }

  @Access(REGISTRY_OPERATORS)
  @Mutation(() => PlatformService)
  updatePlatformService(
    @Arg('input', () => UpdatePlatformServiceInput) input: UpdatePlatformServiceInput,
    @Ctx() ctx: Context,
  ): Promise<PlatformService> {
    return updateService(ctx, input);
  }

  @FieldResolver(() => Url, { nullable: true, description: 'Where it answers, if not at the configured address; null to users.' })
  baseUrl(@Root() { baseUrl }: PlatformService, @Ctx() ctx: Context): string | null {
    return isInsider(ctx) ? baseUrl : null;
  }

  @FieldResolver(() => ServiceHealth)
  health(@Root() service: PlatformService, @Ctx() ctx: Context): ServiceHealth {
    return healthOf(ctx, service);
  }

  @FieldResolver(() => Float, { description: 'Share of the last days in which it was not down, 0 to 1.' })
  async uptime(
    @Root() { slug }: PlatformService,
    @Rule({ min: 1, max: 365 }) @Arg('days', () => Int, { defaultValue: 30 }) days: number,
    @Ctx() ctx: Context,
  ): Promise<number> {
    return (await ctx.load(`service:uptime:${days}`, slug, slugs => uptimesOf(ctx, slugs, days))) ?? 1;
  }

  @Access(INSIDERS)
  @FieldResolver(() => [HealthIncident], { description: 'Newest first.' })
  async incidents(
    @Root() { slug }: PlatformService,
    @Rule({ min: 1, max: 100 }) @Arg('first', () => Int, { defaultValue: 20 }) first: number,
    @Ctx() ctx: Context,
  ): Promise<HealthIncident[]> {
    return (await ctx.load(`service:incidents:${first}`, slug, slugs => incidentsOf(ctx, slugs, first))) ?? [];
  }
}
