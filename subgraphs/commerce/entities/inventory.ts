import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CountryCode, DateTime, LocalDate } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { OWN_NOTICES, READERS } from './access.js';
import { InventoryLotStatus, StockMovementKind } from './enums.js';

@ObjectType({ description: 'Where stock lies.' })
export class InventoryLocation {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  code: string;

  @Field(() => String)
  name: string;

  @Field(() => [CountryCode])
  countries: string[];

  @Field(() => Int, { description: 'The lowest is taken from first.' })
  priority: number;

  @Field(() => Boolean)
  active: boolean;
}

/** Stock of a variant at a location: the row that whoever changes stock locks. Source: commerce 2, rule 8. */
@Access(READERS)
@ObjectType({ description: 'Stock of a variant at a location.' })
@Entity({ tableName: 'inventory_level' })
export class InventoryLevel {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  variantId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  locationId: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  onHand: number = 0;

  @Field(() => Int, { description: 'Sold and not shipped.' })
  @Property({ type: 'integer' })
  allocated: number = 0;

  @Field(() => Int, { description: 'Never sold.' })
  @Property({ type: 'integer' })
  safetyStock: number = 0;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;
}
export const InventoryLevelConnection = connectionOf<InventoryLevel>(InventoryLevel, 'InventoryLevel');

/** A batch of a variant at a location. Source: commerce 2. */
@Access(READERS)
@ObjectType({ description: 'A batch of a variant at a location.' })
@Entity({ tableName: 'inventory_lot' })
export class InventoryLot {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  variantId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  locationId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  lotNumber: string;

  @Field(() => LocalDate, { nullable: true })
  @Property({ type: 'date', nullable: true })
  expiresOn: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  onHand: number;

  @Field(() => Int)
  @Property({ type: 'integer' })
  allocated: number = 0;

  @Field(() => InventoryLotStatus)
  @Enum({ items: () => InventoryLotStatus })
  status: InventoryLotStatus = InventoryLotStatus.AVAILABLE;

  @Property({ type: 'uuid', nullable: true })
  recallId: string | null = null;

  /** Since when orders hold units of a recalled lot that were not shipped; null: none does. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  settleAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;
}
export const InventoryLotConnection = connectionOf<InventoryLot>(InventoryLot, 'InventoryLot');

/** One change of stock; rows are only ever added. Source: commerce 2. */
@Access(READERS)
@ObjectType({
  description:
    'One change of stock. ALLOCATION, RELEASE and SHIPMENT change what is allocated; all others what is on hand, as SHIPMENT does.',
})
@Entity({ tableName: 'stock_movement' })
export class StockMovement {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  variantId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  locationId: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  lotNumber: string | null = null;

  @Field(() => StockMovementKind)
  @Enum({ items: () => StockMovementKind })
  kind: StockMovementKind;

  @Field(() => Int, { description: 'Signed.' })
  @Property({ type: 'integer' })
  quantity: number;

  @Field(() => String, { nullable: true, description: 'What it was for, `order:<id>`.' })
  @Property({ type: 'text', nullable: true })
  reference: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  actor: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
export const StockMovementConnection = connectionOf<StockMovement>(StockMovement, 'StockMovement');

/** Who wants to know when a variant is there again. Source: commerce 2. */
@Access(OWN_NOTICES)
@ObjectType({ description: 'A wish to be told when a variant is there again.' })
@Entity({ tableName: 'stock_notice' })
export class StockNotice {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  variantId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  notifiedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  closedAt: Date | null = null;

  /** Since when the variant is there again for one of many, who is still to be told; null: nobody owes this notice anything. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;
}
export const StockNoticeConnection = connectionOf<StockNotice>(StockNotice, 'StockNotice');

@ObjectType({ description: 'What of a lot went into one order.' })
export class RecalledOrder {
  @Field(() => ID)
  orderId: string;

  @Field(() => String)
  number: string;

  @Field(() => User, { nullable: true })
  user: User | null;

  @Field(() => Int)
  shipped: number;

  @Field(() => Int)
  unshipped: number;

  @Field(() => Int)
  returned: number;
}

@ObjectType()
export class RecallTotals {
  @Field(() => Int)
  shipped: number;

  @Field(() => Int)
  unshipped: number;

  @Field(() => Int)
  returned: number;
}

@ObjectType({ description: 'Where a lot went, at all locations.' })
export class RecallReport {
  @Field(() => ID, { nullable: true, description: 'Null: the lot is not recalled.' })
  recallId: string | null;

  @Field(() => String)
  sku: string;

  @Field(() => String)
  lotNumber: string;

  @Field(() => InventoryLotStatus)
  status: InventoryLotStatus;

  @Field(() => [RecalledOrder])
  orders: RecalledOrder[];

  @Field(() => RecallTotals)
  totals: RecallTotals;

  @Field(() => Int, { description: 'Buyers whose data are erased; their orders are not named.' })
  erasedBuyers: number;

  @Field(() => Int, { description: 'Units that other lots cover now.' })
  movedToOtherLots: number;

  @Field(() => Int, { description: 'Units that were cancelled.' })
  cancelled: number;

  @Field(() => Int)
  noticesSent: number;
}
