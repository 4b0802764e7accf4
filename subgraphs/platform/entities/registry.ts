import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { CanaryOverview, ServiceHealthStatus, SuiteHealthStatus, type CheckResult, type ServiceCheck } from './health.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum PlatformServiceMaturity {
  STABLE = 'stable',
  BETA = 'beta',
  PREVIEW = 'preview',
}
registerEnums({ PlatformServiceMaturity });

/** One of the 28 services. Source: platform 2 and 4.3. */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "slug")')
@ObjectType({ description: 'A service of the suite.' })
@Entity({ tableName: 'service' })
export class PlatformService {
  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  slug: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String)
  @Property({ type: 'text' })
  purpose: string;

  @Field(() => PlatformServiceMaturity, { nullable: true, description: 'Null where the specification states none.' })
  @Enum({ items: () => PlatformServiceMaturity, nullable: true })
  maturity: PlatformServiceMaturity | null;

  @Field(() => Boolean, { nullable: true, description: 'Null where the specification states none.' })
  @Property({ type: 'boolean', nullable: true })
  productionReady: boolean | null;

  @Field(() => Boolean, { description: 'The suite fails when it is down.' })
  @Property({ type: 'boolean' })
  critical: boolean;
  /** An address of its own; null where the configuration says where it is. */
  @Property({ type: 'text', nullable: true })
  baseUrl: string | null = null;

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  openapiUrl: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  lastDeployedVersion: string | null = null;

  @Enum({ items: () => ServiceHealthStatus })
  healthStatus: ServiceHealthStatus = ServiceHealthStatus.UNKNOWN;

  @Property({ type: 'datetime', length: 3, nullable: true })
  healthSince: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  checkedAt: Date | null = null;

  @Property({ type: 'integer', nullable: true })
  latencyMs: number | null = null;

  @Property({ type: 'integer' })
  consecutiveFailures: number = 0;

  /** Results since the status was reached, newest first, at most six. */
  @Property({ type: 'json' })
  recentChecks: CheckResult[] = [];

  @Property({ type: 'json' })
  checks: ServiceCheck[] = [];

  /** Type of event -> when one was seen last. */
  @Property({ type: 'json' })
  lastSeen: Record<string, string> = {};
}

@Access({ service: '*', staff: 'admin:platform:read' })
@ObjectType({ description: 'Verdict over all services, from memory.' })
export class SuiteHealth {
  @Field(() => SuiteHealthStatus)
  status: SuiteHealthStatus;

  @Field(() => [PlatformService])
  services: PlatformService[];

  @Field(() => CanaryOverview)
  canaries: CanaryOverview;

  @Field(() => DateTime)
  checkedAt: Date;
}
