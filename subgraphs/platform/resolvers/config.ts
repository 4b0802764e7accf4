import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { SLUGS } from '../../../events/slugs.js';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { Brand } from '../entities/brand.js';
import { ConfigKey, ConfigScope, ConfigSource, ConfigValue, ConfigValueConnection, EffectiveConfig } from '../entities/config.js';
import { ConfigHistoryArgs, DefineConfigKeyInput, EffectiveConfigArgs, RollbackConfigInput, SetConfigInput } from '../inputs/config.js';
import { effective, schemaViolations, valueViolations } from '../rules/config.js';
import { secretViolations } from '../rules/secrets.js';
import { invalidateBrands } from '../commands/invalidation.js';
import { readerOf } from '../queries/snapshot.js';

const OPERATORS = { service: 'admin:platform', staff: 'admin:platform:config' } as const;

function refuse(found: readonly Violation[], below = '/input'): void {
  const errors = found.map(({ pointer, message }) => ({ pointer: `${below}${pointer}`, message }));
  requireValid(errors);
}

/** A key, locked: values of a key are written one after the other. @throws Problem not_found. */
async function lockKey(ctx: Context, key: string): Promise<ConfigKey> {
  return (await ctx.em.findOne(ConfigKey, { key }, { lockMode: LockMode.PESSIMISTIC_WRITE })) ?? fail('not_found', 'Not found');
}

const CURRENT = `
  select distinct on (key, brand_id) key, brand_id as "brandId", value, version from platform.config_value
  where key = any ($1) and (brand_id is null or $2::uuid is null or brand_id = $2) order by key, brand_id, version desc`;

type CurrentRow = { key: string; brandId: string | null; value: unknown; version: number };

/** Current values of keys; of one brand and the global ones, or of all brands for null. */
const currentOf = (ctx: Context, keys: readonly string[], brandId: string | null): Promise<CurrentRow[]> =>
  ctx.sql<CurrentRow>(CURRENT, [keys, brandId]);

async function checkScope(ctx: Context, { scopes }: ConfigKey, brandId: string | null): Promise<void> {
  const scope = brandId === null ? ConfigScope.GLOBAL : ConfigScope.BRAND;
  if (!scopes.includes(scope))
    refuse([{ pointer: '/brandId', message: `this key has no value for ${brandId === null ? 'all brands' : 'one brand'}` }]);
  if (brandId !== null && !(await ctx.em.count(Brand, { id: brandId }))) refuse([{ pointer: '/brandId', message: 'is no brand' }]);
}

type Facts = Pick<ConfigValue, 'key' | 'brandId' | 'value' | 'version' | 'reason'>;

/** Adds a value and tells the brands that it concerns. The audit names the version, never the value. */
async function add(ctx: Context, facts: Facts): Promise<ConfigValue> {
  const row = Object.assign(new ConfigValue(), facts, { setBy: actorOf(ctx.caller), setAt: ctx.now() });
  ctx.em.persist(row);
  ctx.audit('config.set', facts.key, { brand_id: facts.brandId, version: facts.version });
  await invalidateBrands(ctx, facts.brandId === null ? null : [facts.brandId], ['config']);
  return row;
}

const READABLE = `
  select key, schema from platform.config_key where ($1::text is null or $1 = any (readers)) and ($2::text is null or starts_with(key, $2)) order by key`;

@Resolver(() => ConfigKey)
export class ConfigResolver {
  @Access({ service: '*' })
  @Query(() => [EffectiveConfig], { description: 'Keys of which the calling service is a reader (with admin:platform all), by key.' })
  async effectiveConfig(
    @Args(() => EffectiveConfigArgs) { brandId, prefix }: EffectiveConfigArgs,
    @Ctx() ctx: Context,
  ): Promise<EffectiveConfig[]> {
    const keys = await ctx.sql<{ key: string; schema: Record<string, unknown> }>(READABLE, [readerOf(ctx), prefix ?? null]);
    const brand = brandId?.toLowerCase() ?? null;
    const names = keys.map(({ key }) => key);
    const rows = await currentOf(ctx, names, brand);
    return keys.map(({ key, schema }) => {
      const { value, version, source } = effective(
        schema,
        rows.filter(row => row.key === key),
        brand,
      );
      return { key, value, version, source: source as ConfigSource };
    });
  }

  @Access(OPERATORS)
  @Query(() => [ConfigKey], { description: 'All keys.' })
  configKeys(@Ctx() ctx: Context): Promise<ConfigKey[]> {
    return ctx.em.find(ConfigKey, {}, { orderBy: { key: 'asc' } });
  }

  @Access(OPERATORS)
  @Query(() => ConfigValueConnection, { nullable: true, description: 'Values of a key, newest first.' })
  async configHistory(
    @Args(() => ConfigHistoryArgs) { key, brandId, ...paging }: ConfigHistoryArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ConfigValue> | null> {
    if (!(await ctx.em.count(ConfigKey, { key }))) return null;
    return page<ConfigValue>(ctx.em, ConfigValue, { key, ...(brandId && { brandId }) }, paging, { time: 'setAt' });
  }

  @Access(OPERATORS)
  @Mutation(() => ConfigKey, { description: 'Defines a key, or defines it anew: then all its current values must fit.' })
  async defineConfigKey(@Arg('input', () => DefineConfigKeyInput) input: DefineConfigKeyInput, @Ctx() ctx: Context): Promise<ConfigKey> {
    const strangers = [input.key.split('.')[0]!, ...input.readers].filter(slug => !(SLUGS as readonly string[]).includes(slug));
    refuse(strangers.map(slug => ({ pointer: input.readers.includes(slug) ? '/readers' : '/key', message: `${slug} is no service` })));
    refuse([...schemaViolations(input.schema), ...secretViolations(input.schema, '/schema')]);
    const known = await ctx.em.findOne(ConfigKey, { key: input.key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (known) await this.#checkValues(ctx, input);
    ctx.status(known ? 200 : 201);
    const key = Object.assign(known ?? Object.assign(new ConfigKey(), { createdAt: ctx.now() }), input, {
      scopes: [...new Set(input.scopes)],
    });
    ctx.em.persist(key);
    ctx.audit(known ? 'config_key.changed' : 'config_key.defined', key.key, { readers: key.readers, scopes: key.scopes });
    return key;
  }

  async #checkValues(ctx: Context, { key, schema, scopes }: DefineConfigKeyInput): Promise<void> {
    const rows = await currentOf(ctx, [key], null);
    const misfits = rows.filter(
      row =>
        valueViolations(schema, row.value).length > 0 || !scopes.includes(row.brandId === null ? ConfigScope.GLOBAL : ConfigScope.BRAND),
    );
    if (misfits.length)
      fail('conflict', 'Current values do not fit', {
        reason: 'values_do_not_fit',
        members: { brandIds: misfits.map(row => row.brandId) },
      });
  }

  @Access(OPERATORS)
  @Mutation(() => ConfigValue)
  async setConfig(
    @Arg('input', () => SetConfigInput) { key, brandId, value, expectedVersion, reason }: SetConfigInput,
    @Ctx() ctx: Context,
  ): Promise<ConfigValue> {
    const definition = await lockKey(ctx, key);
    const brand = brandId?.toLowerCase() ?? null;
    await checkScope(ctx, definition, brand);
    refuse(valueViolations(definition.schema, value), '/input/value');
    const rows = await currentOf(ctx, [key], brand);
    const version = rows.find(row => row.brandId === brand)?.version ?? 0;
    if (version !== expectedVersion) fail('conflict', `The value is at version ${version}`, { reason: 'version_conflict' });
    return add(ctx, { key, brandId: brand, value, version: version + 1, reason });
  }

  @Access(OPERATORS)
  @Mutation(() => ConfigValue, { description: 'Makes an old value current again, as a new version.' })
  async rollbackConfig(
    @Arg('input', () => RollbackConfigInput) { key, brandId, version, reason }: RollbackConfigInput,
    @Ctx() ctx: Context,
  ): Promise<ConfigValue> {
    const definition = await lockKey(ctx, key);
    const brand = brandId?.toLowerCase() ?? null;
    const old = (await ctx.em.findOne(ConfigValue, { key, brandId: brand, version })) ?? fail('not_found', 'Not found');
    if (valueViolations(definition.schema, old.value).length > 0)
      fail('conflict', 'The old value does not fit the schema in force', { reason: 'values_do_not_fit' });
    const rows = await currentOf(ctx, [key], brand);
    const current = rows.find(row => row.brandId === brand)!;
    return add(ctx, { key, brandId: brand, value: old.value, version: current.version + 1, reason });
  }
}
