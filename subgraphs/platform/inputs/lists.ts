import { ArgsType, Field, ID, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { BrandStatus } from '../entities/brand.js';
import { FlagChangeStatus } from '../entities/flag.js';
import { CanaryKind, CanaryProbeStatus, ServiceHealthStatus } from '../entities/health.js';
import { PlatformServiceMaturity } from '../entities/registry.js';

@ArgsType()
export class BrandsArgs extends PageArgs {
  @Field(() => BrandStatus, { nullable: true })
  status?: BrandStatus | null;

  @Rule({ maxItems: 100 })
  @Field(() => [ID], { nullable: true })
  ids?: string[] | null;
}

@ArgsType()
export class FeatureFlagsArgs {
  @Field(() => Boolean, { nullable: true })
  protected?: boolean | null;

  @Rule({ maxItems: 100 })
  @Field(() => [String], { nullable: true })
  keys?: string[] | null;

  @Field(() => String, { nullable: true, description: 'Slug of the owning service.' })
  owner?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Archived flags instead of those in use.' })
  archived: boolean = false;
}

@ArgsType()
export class PlatformServicesArgs {
  @Field(() => PlatformServiceMaturity, { nullable: true })
  maturity?: PlatformServiceMaturity | null;

  @Field(() => Boolean, { nullable: true })
  productionReady?: boolean | null;

  @Field(() => ServiceHealthStatus, { nullable: true })
  health?: ServiceHealthStatus | null;
}

@ArgsType()
export class FlagChangesArgs extends PageArgs {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Field(() => FlagChangeStatus, { nullable: true })
  status?: FlagChangeStatus | null;
}

@ArgsType()
export class HealthIncidentsArgs extends PageArgs {
  @Rule({ maxLength: 40 })
  @Field(() => String, { nullable: true, description: 'Slug.' })
  service?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Those that last, or those that have ended.' })
  open?: boolean | null;
}

@ArgsType()
export class CanaryProbesArgs extends PageArgs {
  @Field(() => CanaryKind, { nullable: true })
  kind?: CanaryKind | null;

  @Field(() => CanaryProbeStatus, { nullable: true })
  status?: CanaryProbeStatus | null;
}

@ArgsType()
export class ExplainFlagArgs {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  country?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  locale?: string | null;

  @Rule({ maxItems: 50, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  role?: string[] | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  tier?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true })
  client?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  appVersion?: string | null;
}

@ArgsType()
export class FlagSnapshotArgs {
  @Field(() => Int, { nullable: true, description: 'Nothing is answered while the revision is this one.' })
  ifRevisionNot?: number | null;

  @Field(() => Int, { nullable: true, description: 'What the reader has; only wait looks at it.' })
  knownRevision?: number | null;

  @Rule({ min: 0, max: 25 })
  @Field(() => Int, { defaultValue: 0, description: 'Seconds to wait for a change, 0 to 25.' })
  wait: number = 0;
}

@ArgsType()
export class SafeViewsArgs {
  @Rule({ maxLength: 40 })
  @Field(() => String, { nullable: true })
  schema?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Those with something wrong, or those without.' })
  drift?: boolean | null;
}
