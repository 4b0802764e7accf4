import { Check, Entity, Enum, ManyToOne, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL } from '../../../runtime/data/safe-views.js';
import { DateTime, JSONObject, LocalDate } from '../../../runtime/schema/scalars.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum FeatureFlagKind {
  RELEASE = 'release',
  EXPERIMENT = 'experiment',
  OPS = 'ops',
  PERMISSION = 'permission',
}

export enum FeatureFlagValueType {
  BOOLEAN = 'boolean',
  STRING = 'string',
}

/** Stored as the evaluator knows them, so that a snapshot is read without translation. */
export enum FlagConditionAttribute {
  BRAND = 'BRAND',
  USER = 'USER',
  COUNTRY = 'COUNTRY',
  LOCALE = 'LOCALE',
  ROLE = 'ROLE',
  TIER = 'TIER',
  CLIENT = 'CLIENT',
  APP_VERSION = 'APP_VERSION',
}

export enum FlagConditionOperator {
  IN = 'IN',
  NOT_IN = 'NOT_IN',
  GTE = 'GTE',
  LTE = 'LTE',
}

export enum FlagChangeStatus {
  PENDING = 'pending',
  APPROVED = 'approved',
  APPLIED = 'applied',
  REJECTED = 'rejected',
  SCHEDULED = 'scheduled',
  EXPIRED = 'expired',
}
registerEnums(
  { FeatureFlagKind, FeatureFlagValueType, FlagConditionAttribute, FlagConditionOperator, FlagChangeStatus },
  {
    FlagConditionOperator: 'GTE and LTE compare one app version, by semantic versioning. On an absent attribute every condition is false.',
    FlagChangeStatus: 'PENDING waits for an approval for 7 days; EXPIRED: not approved in time, or the flag changed meanwhile.',
  },
);

@ObjectType({ description: 'A named value that a flag can have.' })
export class FlagVariant {
  @Field(() => String)
  name: string;

  @Field(() => JSONObject, { description: 'Boolean or string, as the flag declares.' })
  value: boolean | string;
}

@ObjectType({ description: 'A share of the users of a brand, in basis points of 10,000.' })
export class FlagRollout {
  @Field(() => String)
  variant: string;

  @Field(() => Int)
  basisPoints: number;
}

@ObjectType({ description: 'The variant that a rule serves.' })
export class FlagServe {
  @Field(() => String)
  variant: string;
}

@ObjectType({ description: 'What a flag serves where no rule matches: a variant or a rollout.' })
export class FlagDefaultRule {
  @Field(() => String, { nullable: true })
  variant?: string | null;

  @Field(() => [FlagRollout], { nullable: true, description: 'Consecutive ranges of buckets; what is left over serves the off variant.' })
  rollout?: FlagRollout[] | null;
}

@ObjectType({ description: 'A condition of a rule.' })
export class FlagCondition {
  @Field(() => FlagConditionAttribute)
  attribute: FlagConditionAttribute;

  @Field(() => FlagConditionOperator)
  operator: FlagConditionOperator;

  @Field(() => [String])
  values: string[];
}

@ObjectType({ description: 'Another flag that must be at a variant, for the same brand, user and attributes.' })
export class FlagPrerequisite {
  @Field(() => String)
  key: string;

  @Field(() => String)
  variant: string;
}

/** An operating switch, never a paid right. Source: platform 2. */
@Access({ service: 'admin:platform', staff: 'admin:platform:flags|admin:platform:read' })
@Directive('@key(fields: "key")')
@ObjectType({ description: 'An operating switch of the platform, never a paid right.' })
@Entity({ tableName: 'flag' })
@Check({ name: 'flag_key_check', expression: `key ~ '^feature(\\.[a-z0-9-]+)+$' and char_length(key) <= 128` })
@Check({ name: 'flag_revision_check', expression: 'revision >= 1' })
export class FeatureFlag {
  @Field(() => String, { description: 'Never used again for another flag.' })
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text', comment: FREE_TEXT })
  description: string;

  @Field(() => FeatureFlagKind)
  @Enum({ items: () => FeatureFlagKind })
  kind: FeatureFlagKind;

  @Field(() => FeatureFlagValueType)
  @Enum({ items: () => FeatureFlagValueType })
  valueType: FeatureFlagValueType;

  @Field(() => [FlagVariant])
  @Property({ type: 'json' })
  variants: FlagVariant[];

  @Field(() => String)
  @Property({ type: 'text' })
  offVariant: string;

  @Field(() => FlagDefaultRule)
  @Property({ type: 'json' })
  defaultRule: FlagDefaultRule;

  @Field(() => [FlagPrerequisite])
  @Property({ type: 'json' })
  prerequisites: FlagPrerequisite[] = [];

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  enabled: boolean = false;

  @Field(() => Boolean, { description: 'Serves the off variant to everyone, whatever the rules say.' })
  @Property({ type: 'boolean' })
  killed: boolean = false;

  @Field(() => Boolean, { description: 'Serves the off variant where its state cannot be known; else the last value stays.' })
  @Property({ type: 'boolean' })
  failClosed: boolean = true;

  @Field(() => Boolean, { description: 'Changes only with two different staff members, killing excepted.' })
  @Property({ type: 'boolean' })
  protected: boolean = false;

  @Field(() => String, { nullable: true, description: 'Name of the check that a change must pass.' })
  @Property({ type: 'text', nullable: true })
  guard: string | null = null;

  @Field(() => String, { description: 'Never changes: another salt would give every user another bucket.' })
  @Property({ type: 'text' })
  salt: string;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  permanent: boolean = false;

  @Field(() => LocalDate, { nullable: true })
  @Property({ type: 'date', nullable: true })
  expiresOn: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  archivedAt: Date | null = null;

  @Field(() => String, { description: 'Slug of the service whose behaviour it switches.' })
  @Property({ type: 'text' })
  owner: string;

  @Field(() => [String], { description: 'Slugs of further services that read it.' })
  @Property({ type: 'array' })
  readers: string[] = [];

  @Field(() => Int, { description: 'Grows by one with every applied change.' })
  @Property({ type: 'integer' })
  revision: number = 1;

  @Field(() => DateTime, { description: 'When a change was applied last.' })
  @Property({ type: 'datetime', length: 3 })
  changedAt: Date;
}

@Access({ service: 'admin:platform', staff: 'admin:platform:flags' })
@ObjectType({ description: 'A rule of a flag: when all its conditions hold, it serves a variant or a rollout.' })
@Entity({ tableName: 'flag_rule' })
@Unique({ name: 'flag_rule_flag_key_position', properties: ['flagKey', 'position'] })
@Check({ name: 'flag_rule_serves_check', expression: '(variant is null) <> (rollout is null)' })
@Check({ name: 'flag_rule_position_check', expression: 'position >= 0 and position <= 49' })
export class FlagRule {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => FeatureFlag, mapToPk: true, fieldName: 'flag_key', index: false })
  flagKey: string;

  @Field(() => Int, { description: 'From 0; the first rule that matches decides.' })
  @Property({ type: 'integer' })
  position: number;

  /** Of `USER` the values are user ids: personal. */
  @Field(() => [FlagCondition])
  @Property({ type: 'json', comment: PERSONAL })
  conditions: FlagCondition[];

  @Property({ type: 'text', nullable: true })
  variant: string | null = null;

  @Field(() => FlagServe, { nullable: true })
  get serve(): FlagServe | null {
    return this.variant === null ? null : { variant: this.variant };
  }

  @Field(() => [FlagRollout], { nullable: true })
  @Property({ type: 'json', nullable: true })
  rollout: FlagRollout[] | null = null;
}
