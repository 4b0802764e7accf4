import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ANY_TOKEN, staffWith, SYNC_KEEPERS } from './access.js';
import { CommerceErasureStatus, CommerceSyncKind, CommerceSyncStatus, LinkCardKind } from './enums.js';
import { Product } from './product.js';

@ObjectType()
export class CommerceSyncCounts {
  @Field(() => Int)
  seen: number = 0;

  @Field(() => Int)
  created: number = 0;

  @Field(() => Int)
  updated: number = 0;

  @Field(() => Int)
  unchanged: number = 0;

  @Field(() => Int)
  skipped: number = 0;

  @Field(() => Int)
  failed: number = 0;
}

@ObjectType({ description: 'A record that could not be taken over.' })
export class CommerceSyncFailure {
  @Field(() => String, { nullable: true })
  externalId: string | null;

  @Field(() => ID, { nullable: true })
  entityId: string | null;

  @Field(() => String)
  code: string;
}

/** A customer whom the storefront has still to forget. Source: commerce 7.23. */
@Entity({ tableName: 'storefront_erasure' })
export class StorefrontErasure {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'text', comment: PERSONAL })
  externalId: string;

  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Property({ type: 'integer' })
  attempts: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  doneAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

/** One run of an exchange with the storefront; it goes on at its cursor after a crash. Source: commerce 2, rules 27-30. */
@Access(SYNC_KEEPERS)
@ObjectType({ description: 'One run of an exchange with the storefront.' })
@Entity({ tableName: 'commerce_sync_job' })
export class CommerceSyncJob {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => CommerceSyncKind)
  @Enum({ items: () => CommerceSyncKind })
  kind: CommerceSyncKind;

  @Field(() => CommerceSyncStatus)
  @Enum({ items: () => CommerceSyncStatus })
  status: CommerceSyncStatus = CommerceSyncStatus.QUEUED;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => Boolean, { name: 'dryRun' })
  @Property({ type: 'boolean' })
  isDryRun: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  since: Date | null = null;

  @Property({ type: 'integer', nullable: true })
  most: number | null = null;

  @Property({ type: 'array', nullable: true })
  ids: string[] | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  cursor: string | null = null;

  /** Failures of the storefront since the last record. */
  @Property({ type: 'integer' })
  attempts: number = 0;

  @Field(() => CommerceSyncCounts)
  @Property({ type: 'json' })
  counts: CommerceSyncCounts = new CommerceSyncCounts();

  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
export const CommerceSyncJobConnection = connectionOf<CommerceSyncJob>(CommerceSyncJob, 'CommerceSyncJob');

@ObjectType()
export class CommerceErasureCounts {
  @Field(() => Int)
  carts: number = 0;

  @Field(() => Int)
  orders: number = 0;

  @Field(() => Int)
  subscriptions: number = 0;

  @Field(() => Int)
  links: number = 0;
}

/** What was erased of a user. Source: commerce 2, rule 23. */
@Access(staffWith('erasure', 'sync'))
@ObjectType({ description: 'What was erased of a user.' })
@Entity({ tableName: 'commerce_erasure' })
export class CommerceErasure {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Property({ type: 'uuid', nullable: true })
  erasureRequestId: string | null = null;

  @Field(() => CommerceErasureStatus)
  @Enum({ items: () => CommerceErasureStatus })
  status: CommerceErasureStatus = CommerceErasureStatus.QUEUED;

  @Field(() => CommerceErasureCounts)
  @Property({ type: 'json' })
  counts: CommerceErasureCounts = new CommerceErasureCounts();

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  completedAt: Date | null = null;
}

@ObjectType({ description: 'An order or a payment that breaks a promise.' })
export class CommerceBreach {
  @Field(() => String)
  code: string;

  @Field(() => ID, { nullable: true })
  orderId: string | null;

  @Field(() => ID, { nullable: true })
  variantId: string | null;

  @Field(() => String)
  detail: string;
}

@ObjectType({ description: 'Orders against payments, and stock against its movements.' })
export class CommerceReconciliation {
  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime)
  to: Date;

  @Field(() => Int)
  ordersChecked: number;

  @Field(() => [CommerceBreach])
  breaches: CommerceBreach[];
}

@Access(ANY_TOKEN)
@ObjectType({ description: 'What is behind an address, in short.' })
export class LinkCard {
  @Field(() => String)
  url: string;

  @Field(() => LinkCardKind)
  kind: LinkCardKind;

  @Field(() => String, { nullable: true })
  title: string | null;

  @Field(() => String, { nullable: true })
  description: string | null;

  @Field(() => String, { nullable: true })
  imageUrl: string | null;

  @Field(() => String, { nullable: true })
  siteName: string | null;

  @Field(() => Product, { nullable: true })
  product: Product | null;
}
