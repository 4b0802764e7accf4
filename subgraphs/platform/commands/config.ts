import { SLUGS } from '../../../events/slugs.js';
import { findRow, FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { Brand } from '../entities/brand.js';
import { ConfigKey, ConfigScope, ConfigValue } from '../entities/config.js';
import type { DefineConfigKeyInput, RollbackConfigInput, SetConfigInput } from '../inputs/config.js';
import { currentOf } from '../queries/config.js';
import { schemaViolations, valueViolations } from '../rules/config.js';
import { secretViolations } from '../rules/secrets.js';
import { below } from '../rules/violations.js';
import { invalidateBrands } from './invalidation.js';

const scopeOf = (brandId: string | null): ConfigScope => (brandId === null ? ConfigScope.GLOBAL : ConfigScope.BRAND);

function strangersOf({ key, readers }: DefineConfigKeyInput): Violation[] {
  const strangers = [key.split('.')[0]!, ...readers].filter(slug => !(SLUGS as readonly string[]).includes(slug));
  return strangers.map(slug => ({ pointer: readers.includes(slug) ? '/readers' : '/key', message: `${slug} is no service` }));
}

/** @throws Problem conflict naming the brands whose current values would not fit. */
async function requireFitting(ctx: Context, { key, schema, scopes }: DefineConfigKeyInput): Promise<void> {
  const rows = await currentOf(ctx, [key], null);
  const misfits = rows.filter(row => valueViolations(schema, row.value).length > 0 || !scopes.includes(scopeOf(row.brandId)));
  const members = { brandIds: misfits.map(row => row.brandId) };
  if (misfits.length) fail('conflict', 'Current values do not fit', { reason: 'values_do_not_fit', members });
}

/** Defines a key, or defines it anew. Status 200 or 201. @throws Problem invalid_request, conflict. */
export async function defineKey(ctx: Context, input: DefineConfigKeyInput): Promise<ConfigKey> {
  requireValid(below('/input', strangersOf(input)));
  requireValid(below('/input', [...schemaViolations(input.schema), ...secretViolations(input.schema, '/schema')]));
  const known = await findRow(ctx, ConfigKey, { key: input.key }, FOR_UPDATE);
  if (known) await requireFitting(ctx, input);
  ctx.status(known ? 200 : 201);
  const key = Object.assign(known ?? Object.assign(new ConfigKey(), { createdAt: ctx.now() }), input, {
    scopes: [...new Set(input.scopes)],
  });
  ctx.em.persist(key);
  ctx.audit(known ? 'config_key.changed' : 'config_key.defined', key.key, { readers: key.readers, scopes: key.scopes });
  return key;
}

async function requireScope(ctx: Context, { scopes }: ConfigKey, brandId: string | null): Promise<void> {
  if (!scopes.includes(scopeOf(brandId)))
    invalid('/input/brandId', `this key has no value for ${brandId === null ? 'all brands' : 'one brand'}`);
  if (brandId !== null && !(await ctx.em.count(Brand, { id: brandId }))) invalid('/input/brandId', 'is no brand');
}

type Facts = Pick<ConfigValue, 'key' | 'brandId' | 'value' | 'version' | 'reason'>;

/** Adds a value and invalidates the brands that it concerns. The audit names the version, never the value. */
async function add(ctx: Context, facts: Facts): Promise<ConfigValue> {
  const row = Object.assign(new ConfigValue(), facts, { setBy: actorOf(ctx.caller), setAt: ctx.now() });
  ctx.em.persist(row);
  ctx.audit('config.set', facts.key, { brand_id: facts.brandId, version: facts.version });
  await invalidateBrands(ctx, facts.brandId === null ? null : [facts.brandId], ['config']);
  return row;
}

/** Version of the current value of exactly this brand, or of all brands; 0 where there is none. */
async function currentVersion(ctx: Context, key: string, brandId: string | null): Promise<number> {
  const rows = await currentOf(ctx, [key], brandId);
  return rows.find(row => row.brandId === brandId)?.version ?? 0;
}

/** Values of a key are written one after the other: its row is locked. @throws Problem not_found, invalid_request, conflict. */
export async function setConfig(ctx: Context, input: SetConfigInput): Promise<ConfigValue> {
  const { key, value, expectedVersion, reason } = input;
  const definition = await lockRow(ctx, ConfigKey, { key });
  const brandId = input.brandId?.toLowerCase() ?? null;
  await requireScope(ctx, definition, brandId);
  requireValid(below('/input/value', valueViolations(definition.schema, value)));
  const version = await currentVersion(ctx, key, brandId);
  if (version !== expectedVersion) fail('conflict', `The value is at version ${version}`, { reason: 'version_conflict' });
  return add(ctx, { key, brandId, value, version: version + 1, reason });
}

/** Makes an old value current again, as a new version. @throws Problem not_found, conflict where it does not fit the schema in force. */
export async function rollbackConfig(ctx: Context, { key, version, reason, ...input }: RollbackConfigInput): Promise<ConfigValue> {
  const definition = await lockRow(ctx, ConfigKey, { key });
  const brandId = input.brandId?.toLowerCase() ?? null;
  const old = (await ctx.em.findOne(ConfigValue, { key, brandId, version })) ?? fail('not_found', 'Not found');
  if (valueViolations(definition.schema, old.value).length > 0)
    fail('conflict', 'The old value does not fit the schema in force', { reason: 'values_do_not_fit' });
  return add(ctx, { key, brandId, value: old.value, version: (await currentVersion(ctx, key, brandId)) + 1, reason });
}
