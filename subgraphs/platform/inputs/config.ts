import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { ConfigScope } from '../entities/config.js';
import { CONFIG_KEY, SERVICE_SLUG } from './patterns.js';

const REASON = { minLength: 3, maxLength: 500 };

@ArgsType()
export class EffectiveConfigArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true, description: 'How the keys begin.' })
  prefix?: string | null;
}

@ArgsType()
export class ConfigHistoryArgs extends PageArgs {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Values of this brand only.' })
  brandId?: string | null;
}

@InputType()
export class DefineConfigKeyInput {
  @Rule({ maxLength: 128, pattern: CONFIG_KEY })
  @Field(() => String, { description: '<service>.<name>' })
  key: string;

  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String)
  description: string;

  @Field(() => JSONObject, { description: 'JSON Schema 2020-12.' })
  schema: Record<string, unknown>;

  @Rule({ minItems: 1, maxItems: 2 })
  @Field(() => [ConfigScope])
  scopes: ConfigScope[];

  @Rule({ minItems: 1, maxItems: 28, pattern: SERVICE_SLUG })
  @Field(() => [String])
  readers: string[];

  @Field(() => Boolean, { defaultValue: false })
  sensitive: boolean = false;
}

@InputType()
export class SetConfigInput {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Null: for all brands.' })
  brandId?: string | null;

  @Field(() => JSONObject, { description: 'Fits the schema of the key; not null.' })
  value: unknown;

  @Rule({ min: 0 })
  @Field(() => Int, { description: 'Of the current value; 0 where there is none.' })
  expectedVersion: number;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType()
export class RollbackConfigInput {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ min: 1 })
  @Field(() => Int, { description: 'The version whose value becomes current again, as a new version.' })
  version: number;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}
