import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { WIN_BACK_SEEN } from './access.js';
import { WinBackClaimStatus } from './enums.js';

/** A lapsed customer whom the affiliate may have written to, without an address. Source: affiliates 3 and 4. */
@Access(WIN_BACK_SEEN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A lapsed customer whom the affiliate may win back.' })
@Entity({ tableName: 'win_back_claim' })
@Unique({ name: 'win_back_claim_once', properties: ['membershipId', 'offerKey', 'expiresAt'] })
@Index({ name: 'win_back_claim_affiliate_id', properties: ['affiliateId', 'createdAt', 'id'] })
export class WinBackClaim {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Property({ type: 'uuid' })
  attributionId: string;

  @Property({ type: 'uuid' })
  membershipId: string;

  /** As it was written last; time ends it by itself. */
  @Enum({ items: () => WinBackClaimStatus, fieldName: 'status' })
  state: WinBackClaimStatus = WinBackClaimStatus.OFFERED;

  @Field(() => String)
  @Property({ type: 'text' })
  offerKey: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const WinBackClaimConnection = connectionOf<WinBackClaim>(WinBackClaim, 'WinBackClaim');
