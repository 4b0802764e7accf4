import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, LocalDate } from '../../../runtime/schema/scalars.js';
import { InventoryLotStatus, StockMovementKind } from '../entities/enums.js';

const SKU = '^[A-Za-z0-9._-]{1,64}$';
const LOT = { maxLength: 64, pattern: NOT_BLANK } as const;

@InputType()
export class InventoryFilter {
  @Rule({ pattern: SKU })
  @Field(() => String, { nullable: true })
  sku?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  locationId?: string | null;
}

@InputType()
export class InventoryLotFilter extends InventoryFilter {
  @Rule(LOT)
  @Field(() => String, { nullable: true })
  lotNumber?: string | null;

  @Field(() => InventoryLotStatus, { nullable: true })
  status?: InventoryLotStatus | null;

  @Field(() => LocalDate, { nullable: true, description: 'Expires then or earlier.' })
  expiresBy?: string | null;
}

@InputType()
export class StockMovementFilter extends InventoryFilter {
  @Rule(LOT)
  @Field(() => String, { nullable: true })
  lotNumber?: string | null;

  @Field(() => StockMovementKind, { nullable: true })
  kind?: StockMovementKind | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}

@ArgsType()
export class InventoryLevelsArgs extends PageArgs {
  @Field(() => InventoryFilter, { nullable: true })
  filter?: InventoryFilter | null;
}

@ArgsType()
export class InventoryLotsArgs extends PageArgs {
  @Field(() => InventoryLotFilter, { nullable: true })
  filter?: InventoryLotFilter | null;
}

@ArgsType()
export class StockMovementsArgs extends PageArgs {
  @Field(() => StockMovementFilter, { nullable: true })
  filter?: StockMovementFilter | null;
}

@InputType()
export class CreateInventoryLotInput {
  @Rule({ pattern: SKU })
  @Field(() => String)
  sku: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the location with the lowest priority.' })
  locationId?: string | null;

  @Rule(LOT)
  @Field(() => String)
  lotNumber: string;

  @Field(() => LocalDate, { nullable: true })
  expiresOn?: string | null;

  @Rule({ min: 1, max: 1_000_000 })
  @Field(() => Int)
  quantity: number;
}

@InputType()
export class AdjustInventoryInput {
  @Rule({ pattern: SKU })
  @Field(() => String)
  sku: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the location with the lowest priority.' })
  locationId?: string | null;

  @Rule(LOT)
  @Field(() => String, { nullable: true, description: 'Required where the variant has lots.' })
  lotNumber?: string | null;

  @Rule({ min: -1_000_000, max: 1_000_000 })
  @Field(() => Int, { description: 'Signed; more is a RECEIPT where `receipt` says so.' })
  quantity: number;

  @Field(() => Boolean, { defaultValue: false })
  receipt: boolean = false;

  @Rule({ min: 0, max: 1_000_000 })
  @Field(() => Int, { nullable: true })
  safetyStock?: number | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}

@InputType()
export class QuarantineLotInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The lot.' })
  id: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Makes it AVAILABLE again.' })
  release: boolean = false;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  version?: number | null;
}

@InputType()
export class RecallLotInput {
  @Rule({ pattern: SKU })
  @Field(() => String)
  sku: string;

  @Rule(LOT)
  @Field(() => String)
  lotNumber: string;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String)
  reason: string;
}

@InputType()
export class RequestStockNoticeInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  variantId: string;
}
