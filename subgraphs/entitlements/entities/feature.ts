import { Check, Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { EntitlementFailMode, EntitlementFeatureKind, EntitlementUsageReset } from './enums.js';

/** Something that a user may or may not use. Its name carries no diagnosis. Source: entitlements 2. */
@Access(READERS)
@Directive('@key(fields: "key")')
@ObjectType({ description: 'Something that a user may or may not use, or use so much of.' })
@Entity({ tableName: 'feature' })
@Check({ name: 'feature_key_check', expression: `key ~ '^[a-z0-9_.-]{2,64}$'` })
export class EntitlementFeature {
  @Field(() => String, { description: 'Never used again for another feature.' })
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => EntitlementFeatureKind, { description: 'Never changes.' })
  @Enum({ items: () => EntitlementFeatureKind })
  kind: EntitlementFeatureKind;

  @Field(() => String, { nullable: true, description: 'What a metered feature counts.' })
  @Property({ type: 'text', nullable: true })
  unit: string | null = null;

  @Field(() => EntitlementFailMode)
  @Enum({ items: () => EntitlementFailMode })
  failMode: EntitlementFailMode = EntitlementFailMode.CLOSED;

  @Field(() => JSONObject, {
    nullable: true,
    description: 'What everybody has: true, a value, or a limit, by kind. Null: nothing.',
  })
  @Property({ type: 'json', nullable: true })
  defaultValue: unknown = null;

  @Field(() => EntitlementUsageReset, { description: 'When the counting of a metered feature begins anew.' })
  @Enum({ items: () => EntitlementUsageReset })
  usageReset: EntitlementUsageReset = EntitlementUsageReset.NEVER;

  @Field(() => Boolean, { description: 'A metered feature may be used beyond its limit; the use is counted.' })
  @Property({ type: 'boolean' })
  softLimit: boolean = false;

  @Field(() => [ID], { description: 'Products whose purchase unlocks it; of a boolean feature.' })
  @Property({ type: 'array' })
  productIds: string[] = [];

  @Property({ type: 'datetime', length: 3, nullable: true })
  archivedAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Boolean, { description: 'Nobody has it any more; asked for, it is unknown.' })
  get archived(): boolean {
    return this.archivedAt !== null;
  }
}

export const EntitlementFeatureConnection = connectionOf<EntitlementFeature>(EntitlementFeature, 'EntitlementFeature');
