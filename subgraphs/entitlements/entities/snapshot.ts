import { BigIntType } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** The last answer about a user, kept to tell whether the next one differs. Source: entitlements 3. */
@Entity({ tableName: 'entitlement_snapshot' })
export class EntitlementSnapshot {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: new BigIntType('number') })
  version: number;

  @Property({ type: 'json' })
  features: unknown;

  @Property({ type: 'datetime', length: 3 })
  computedAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  validUntil: Date | null = null;
}
