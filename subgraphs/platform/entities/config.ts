import { Check, Entity, Enum, Index, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { CONFIG_OPERATORS } from './access.js';
import { Brand } from './brand.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum ConfigScope {
  GLOBAL = 'global',
  BRAND = 'brand',
}

/** A typed setting of a service. Never a secret: those are named by `{"secret_ref": "…"}`. Source: platform 2. */
@Access(CONFIG_OPERATORS)
@ObjectType({ description: 'A typed setting of a service. Secrets are named by {"secret_ref": "name"}, never held.' })
@Entity({ tableName: 'config_key' })
@Check({ name: 'config_key_key_check', expression: `key ~ '^[a-z][a-z-]*(\\.[a-z0-9_-]+)+$'` })
@Check({ name: 'config_key_scopes_check', expression: `scopes <@ array['global', 'brand'] and cardinality(scopes) > 0` })
export class ConfigKey {
  @Field(() => String, { description: '<service>.<name>' })
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text', comment: FREE_TEXT })
  description: string;

  @Field(() => JSONObject, { description: 'JSON Schema 2020-12; its default is the value where none is set.' })
  @Property({ type: 'json', comment: FREE_TEXT })
  schema: Record<string, unknown>;

  @Field(() => [ConfigScope])
  @Enum({ items: () => ConfigScope, array: true, type: 'array', columnType: 'text[]' })
  scopes: ConfigScope[];

  @Field(() => [String], { description: 'Slugs of the services that read it.' })
  @Property({ type: 'array' })
  readers: string[];

  @Field(() => Boolean, { description: 'Its values are shown to nobody but its readers and those who set them.' })
  @Property({ type: 'boolean' })
  sensitive: boolean = false;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

/** One value of a key for a brand or for all; the current one has the highest version. Append-only. Source: platform 2. */
@Access(CONFIG_OPERATORS)
@ObjectType({ description: 'One value of a key, for a brand or for all. The current one has the highest version.' })
@Entity({ tableName: 'config_value' })
@Index({ name: 'config_value_key_set_at', properties: ['key', 'setAt', 'id'] })
@Check({ name: 'config_value_version_check', expression: 'version >= 1' })
export class ConfigValue {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @ManyToOne({ entity: () => ConfigKey, mapToPk: true, fieldName: 'key', index: false })
  key: string;

  @Field(() => ID, { nullable: true, description: 'Null: for all brands.' })
  @ManyToOne({ entity: () => Brand, mapToPk: true, fieldName: 'brand_id', nullable: true, index: false })
  brandId: string | null;

  @Field(() => JSONObject)
  @Property({ type: 'json', comment: FREE_TEXT })
  value: unknown;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number;

  @Field(() => String, { description: 'staff:<id> or service:<client>' })
  @Property({ type: 'text', comment: PERSONAL })
  setBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  setAt: Date;

  @Field(() => String)
  @Property({ type: 'text', comment: FREE_TEXT })
  reason: string;
}

export const ConfigValueConnection = connectionOf(ConfigValue, 'ConfigValue');

export enum ConfigSource {
  BRAND = 'brand',
  GLOBAL = 'global',
  DEFAULT = 'default',
}
registerEnums(
  { ConfigScope, ConfigSource },
  {
    ConfigScope: 'Where a value may be set: for all brands, for one.',
    ConfigSource: 'Where a value comes from; DEFAULT is that of the schema.',
  },
);

@Access({ service: '*' })
@ObjectType({ description: "What a key is for a brand: the brand's value, else the global one, else the default of its schema." })
export class EffectiveConfig {
  @Field(() => String)
  key: string;

  @Field(() => JSONObject, { nullable: true })
  value: unknown;

  @Field(() => ConfigSource)
  source: ConfigSource;

  @Field(() => Int, { nullable: true, description: 'Null for a default.' })
  version: number | null;
}
