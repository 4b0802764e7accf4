import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum ServiceHealthStatus {
  UP = 'up',
  DEGRADED = 'degraded',
  DOWN = 'down',
  UNKNOWN = 'unknown',
}

/** What one check found. */
export type CheckResult = 'ok' | 'slow' | 'failed';

@ObjectType({ description: 'One of the checks that a service makes of itself.' })
export class ServiceCheck {
  @Field(() => String)
  name: string;

  @Field(() => String, { description: 'ok or failing' })
  status: string;
}

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'How a service is, as seen from outside.' })
export class ServiceHealth {
  @Field(() => ServiceHealthStatus)
  status: ServiceHealthStatus;

  @Field(() => DateTime, { nullable: true })
  checkedAt: Date | null;

  @Field(() => Int, { nullable: true })
  latencyMs: number | null;

  @Field(() => Int)
  consecutiveFailures: number;

  @Field(() => [ServiceCheck], { nullable: true, description: 'Null to users.' })
  checks: ServiceCheck[] | null;

  @Field(() => JSONObject, { nullable: true, description: 'Type of event -> when one of this service was seen last. Null to users.' })
  lastSeen: Record<string, string> | null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it has this status.' })
  since: Date | null;
}

export enum HealthIncidentCause {
  HEALTH = 'health',
  CANARY = 'canary',
}

@Access({ service: '*', staff: 'admin:platform:read' })
@ObjectType({ description: 'A time in which a service was down; at most one is open per service.' })
@Entity({ tableName: 'health_incident' })
@Unique({ name: 'health_incident_one_open', properties: ['service'], where: 'ended_at is null' })
@Index({ name: 'health_incident_service_started_at', properties: ['service', 'startedAt', 'id'] })
export class HealthIncident {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Slug.' })
  @Property({ type: 'text' })
  service: string;

  @Field(() => HealthIncidentCause)
  @Enum({ items: () => HealthIncidentCause })
  cause: HealthIncidentCause;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Field(() => ServiceHealthStatus)
  @Enum({ items: () => ServiceHealthStatus })
  worst: ServiceHealthStatus;

  @Field(() => Int, { description: 'Checks, or canaries, that failed in it.' })
  @Property({ type: 'integer' })
  samples: number;
}

export const HealthIncidentConnection = connectionOf(HealthIncident, 'HealthIncident');

export enum CanaryKind {
  BUS = 'bus',
  WORKFLOW = 'workflow',
}

export enum CanaryProbeStatus {
  PENDING = 'pending',
  OK = 'ok',
  LATE = 'late',
  LOST = 'lost',
}

@Access({ service: 'admin:platform', staff: 'admin:platform:read|admin:platform:services' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A probe that was sent through the bus or a workflow, and when it came back.' })
@Entity({ tableName: 'canary_probe' })
@Index({ name: 'canary_probe_kind_sent_at', properties: ['kind', 'sentAt', 'id'] })
@Check({ name: 'canary_probe_kind_check', expression: "kind in ('bus', 'workflow')" })
export class CanaryProbe {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => CanaryKind)
  @Enum({ items: () => CanaryKind })
  kind: CanaryKind;

  @Field(() => String, { description: 'Slug of the service that sent it.' })
  @Property({ type: 'text' })
  origin: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  sentAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  receivedAt: Date | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  latencyMs: number | null = null;

  @Field(() => CanaryProbeStatus)
  @Enum({ items: () => CanaryProbeStatus })
  status: CanaryProbeStatus = CanaryProbeStatus.PENDING;
}

export const CanaryProbeConnection = connectionOf(CanaryProbe, 'CanaryProbe');

export enum SuiteHealthStatus {
  PASS = 'pass',
  WARN = 'warn',
  FAIL = 'fail',
}
registerEnums(
  { ServiceHealthStatus, HealthIncidentCause, CanaryKind, CanaryProbeStatus, SuiteHealthStatus },
  {
    ServiceHealthStatus:
      'DEGRADED: one of the last six checks failed or took longer than 1 s. UNKNOWN: not checked for a minute, or never.',
    HealthIncidentCause: 'What found it: the health checks, or a canary that was lost.',
    CanaryProbeStatus: 'Over the bus LATE after 5 s and LOST after 60 s; through a workflow after 30 s and 5 min.',
    SuiteHealthStatus: 'FAIL: a critical service is down. WARN: another is down, or one is degraded.',
  },
);

@ObjectType({ description: 'The last probe of a kind.' })
export class CanarySummary {
  @Field(() => CanaryProbeStatus, { nullable: true, description: 'Null before the first probe.' })
  status: CanaryProbeStatus | null;

  @Field(() => DateTime, { nullable: true })
  sentAt: Date | null;

  @Field(() => Int, { nullable: true })
  latencyMs: number | null;

  @Field(() => Float, { nullable: true, description: "Share of the last hour's probes that came back in time, 0 to 1." })
  inTime: number | null;
}

@ObjectType()
export class CanaryOverview {
  @Field(() => CanarySummary)
  bus: CanarySummary;

  @Field(() => CanarySummary)
  workflow: CanarySummary;
}
