import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { defineKey, rollbackConfig, setConfig } from '../commands/config.js';
import { CONFIG_OPERATORS } from '../entities/access.js';
import { ConfigKey, ConfigValue, ConfigValueConnection, EffectiveConfig } from '../entities/config.js';
import { ConfigHistoryArgs, DefineConfigKeyInput, EffectiveConfigArgs, RollbackConfigInput, SetConfigInput } from '../inputs/config.js';
import { effectiveConfig } from '../queries/config.js';

@Resolver(() => ConfigKey)
export class ConfigResolver {
  @Access({ service: '*' })
  @Query(() => [EffectiveConfig], { description: 'Keys of which the calling service is a reader (with admin:platform all), by key.' })
  effectiveConfig(@Args(() => EffectiveConfigArgs) args: EffectiveConfigArgs, @Ctx() ctx: Context): Promise<EffectiveConfig[]> {
    return effectiveConfig(ctx, args);
  }

  @Access(CONFIG_OPERATORS)
  @Query(() => [ConfigKey], { description: 'All keys.' })
  configKeys(@Ctx() ctx: Context): Promise<ConfigKey[]> {
    return ctx.em.find(ConfigKey, {}, { orderBy: { key: 'asc' } });
  }

  @Access(CONFIG_OPERATORS)
  @Query(() => ConfigValueConnection, { nullable: true, description: 'Values of a key, newest first.' })
  async configHistory(
    @Args(() => ConfigHistoryArgs) { key, brandId, ...paging }: ConfigHistoryArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ConfigValue> | null> {
    if (!(await ctx.em.count(ConfigKey, { key }))) return null;
    return page(ctx.em, ConfigValue, { key, ...(brandId && { brandId }) }, paging, { time: 'setAt' });
  }

  @Access(CONFIG_OPERATORS)
  @Mutation(() => ConfigKey, { description: 'Defines a key, or defines it anew: then all its current values must fit.' })
  defineConfigKey(@Arg('input', () => DefineConfigKeyInput) input: DefineConfigKeyInput, @Ctx() ctx: Context): Promise<ConfigKey> {
    return defineKey(ctx, input);
  }

  @Access(CONFIG_OPERATORS)
  @Mutation(() => ConfigValue)
  setConfig(@Arg('input', () => SetConfigInput) input: SetConfigInput, @Ctx() ctx: Context): Promise<ConfigValue> {
    return setConfig(ctx, input);
  }

  @Access(CONFIG_OPERATORS)
  @Mutation(() => ConfigValue, { description: 'Makes an old value current again, as a new version.' })
  rollbackConfig(@Arg('input', () => RollbackConfigInput) input: RollbackConfigInput, @Ctx() ctx: Context): Promise<ConfigValue> {
    return rollbackConfig(ctx, input);
  }
}
