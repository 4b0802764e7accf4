import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { EntitlementSource } from './enums.js';

/** What one user has or has not, whatever the default is. Staff and services only: it holds a reason. Source: entitlements 2. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What one user may or may not use in a time, by a decision or a purchase.' })
@Entity({ tableName: 'entitlement_override' })
@Check({ name: 'entitlement_override_usage_limit_check', expression: 'usage_limit >= 0' })
@Check({ name: 'entitlement_override_ends_at_check', expression: 'ends_at >= starts_at' })
@Index({ name: 'entitlement_override_user_id_feature_key', properties: ['userId', 'featureKey'] })
export class EntitlementOverride {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'text' })
  featureKey: string;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  allow: boolean;

  @Field(() => JSONObject, { nullable: true })
  @Property({ type: 'json', nullable: true })
  value: unknown = null;

  @Field(() => SafeInt, { nullable: true, description: 'Of a metered feature; null: none.' })
  @Property({ type: new BigIntType('number'), fieldName: 'usage_limit', nullable: true })
  limit: number | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startsAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'The first instant at which it no longer holds.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endsAt: Date | null = null;

  @Field(() => EntitlementSource, { description: 'OVERRIDE or PURCHASE.' })
  @Enum({ items: () => EntitlementSource })
  source: EntitlementSource = EntitlementSource.OVERRIDE;

  @Field(() => String, { nullable: true, description: 'What it goes back to; of a purchase the order.' })
  @Property({ type: 'text', nullable: true })
  reference: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  reason: string;

  @Field(() => ID, { description: 'Staff member or client.' })
  @Property({ type: 'text' })
  createdBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const EntitlementOverrideConnection = connectionOf<EntitlementOverride>(EntitlementOverride, 'EntitlementOverride');
