import { Field, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { PlatformServiceMaturity } from '../entities/registry.js';

@InputType({ description: 'What changes; an absent field stays as it is, a null takes a value away.' })
export class UpdatePlatformServiceInput {
  @Rule({ maxLength: 40 })
  @Field(() => String)
  slug: string;

  @Field(() => PlatformServiceMaturity, { nullable: true })
  maturity?: PlatformServiceMaturity | null;

  @Field(() => Boolean, { nullable: true })
  productionReady?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  critical?: boolean | null;

  @Field(() => Url, { nullable: true, description: 'https, or in the internal networks; null: the configured address.' })
  baseUrl?: URL | null;

  @Field(() => Url, { nullable: true })
  openapiUrl?: URL | null;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { nullable: true })
  lastDeployedVersion?: string | null;
}
