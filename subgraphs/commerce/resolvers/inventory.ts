import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { adjustInventory, createInventoryLot, quarantineLot } from '../commands/inventory.js';
import { recallLot } from '../commands/recall.js';
import { cancelStockNotice, requestStockNotice } from '../commands/stock-notice.js';
import { OWN_NOTICES, READERS, STOCK_KEEPERS, staffWith } from '../entities/access.js';
import {
  InventoryLevel,
  InventoryLevelConnection,
  InventoryLot,
  InventoryLotConnection,
  RecallReport,
  StockMovement,
  StockMovementConnection,
  StockNotice,
  StockNoticeConnection,
} from '../entities/inventory.js';
import { ProductVariant } from '../entities/product.js';
import {
  AdjustInventoryInput,
  CreateInventoryLotInput,
  InventoryLevelsArgs,
  InventoryLotsArgs,
  QuarantineLotInput,
  RecallLotInput,
  RequestStockNoticeInput,
  StockMovementsArgs,
} from '../inputs/inventory.js';
import { levelsPage, lotsPage, movementsPage, noticesPage } from '../queries/inventory.js';
import { lotRecall } from '../queries/recall.js';

const LISTS = staffWith('read', 'inventory');

@Resolver(() => InventoryLevel)
export class InventoryLevelResolver {
  @Access(LISTS)
  @Query(() => InventoryLevelConnection, { description: 'Stock by variant and location.' })
  inventoryLevels(@Args(() => InventoryLevelsArgs) args: InventoryLevelsArgs, @Ctx() ctx: Context): Promise<Connection<InventoryLevel>> {
    return levelsPage(ctx, args);
  }

  @Access(LISTS)
  @Query(() => StockMovementConnection, { description: 'What has changed stock, newest first.' })
  stockMovements(@Args(() => StockMovementsArgs) args: StockMovementsArgs, @Ctx() ctx: Context): Promise<Connection<StockMovement>> {
    return movementsPage(ctx, args);
  }

  @Access(STOCK_KEEPERS)
  @Mutation(() => InventoryLevel, { description: 'Changes what is on hand.' })
  adjustInventory(@Arg('input', () => AdjustInventoryInput) input: AdjustInventoryInput, @Ctx() ctx: Context): Promise<InventoryLevel> {
    return adjustInventory(ctx, input);
  }

  @Access(READERS)
  @FieldResolver(() => ProductVariant, { nullable: true })
  variant(@Root() { variantId }: InventoryLevel, @Ctx() ctx: Context): Promise<ProductVariant | null> {
    return loadRow(ctx, ProductVariant, 'id', variantId);
  }
}

@Resolver(() => InventoryLot)
export class InventoryLotResolver {
  @Access(LISTS)
  @Query(() => InventoryLotConnection, { description: 'Lots, newest first.' })
  inventoryLots(@Args(() => InventoryLotsArgs) args: InventoryLotsArgs, @Ctx() ctx: Context): Promise<Connection<InventoryLot>> {
    return lotsPage(ctx, args);
  }

  @Access(STOCK_KEEPERS)
  @Mutation(() => InventoryLot, { description: 'Receives units of a new lot.' })
  createInventoryLot(
    @Arg('input', () => CreateInventoryLotInput) input: CreateInventoryLotInput,
    @Ctx() ctx: Context,
  ): Promise<InventoryLot> {
    return createInventoryLot(ctx, input);
  }

  @Access(STOCK_KEEPERS)
  @Mutation(() => InventoryLot, { description: 'Keeps a lot from being sold, or releases it.' })
  quarantineLot(@Arg('input', () => QuarantineLotInput) input: QuarantineLotInput, @Ctx() ctx: Context): Promise<InventoryLot> {
    return quarantineLot(ctx, input);
  }

  @Access(STOCK_KEEPERS)
  @Query(() => RecallReport, { description: 'Where a lot went: who must be warned.' })
  lotRecall(
    @Rule({ maxLength: 64, pattern: NOT_BLANK }) @Arg('sku', () => String) sku: string,
    @Rule({ maxLength: 64, pattern: NOT_BLANK }) @Arg('lotNumber', () => String) lotNumber: string,
    @Ctx() ctx: Context,
  ): Promise<RecallReport> {
    return lotRecall(ctx, sku, lotNumber);
  }

  @Access(STOCK_KEEPERS)
  @Mutation(() => RecallReport, { description: 'Recalls a lot at all locations and warns its buyers. Again: nothing.' })
  recallLot(@Arg('input', () => RecallLotInput) input: RecallLotInput, @Ctx() ctx: Context): Promise<RecallReport> {
    return recallLot(ctx, input);
  }

  @Access(READERS)
  @FieldResolver(() => ProductVariant, { nullable: true })
  variant(@Root() { variantId }: InventoryLot, @Ctx() ctx: Context): Promise<ProductVariant | null> {
    return loadRow(ctx, ProductVariant, 'id', variantId);
  }
}

@Resolver(() => StockNotice)
export class StockNoticeResolver {
  @Access(OWN_NOTICES)
  @Query(() => StockNoticeConnection, { description: 'Own notices that are open.' })
  stockNotices(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<StockNotice>> {
    return noticesPage(ctx, args);
  }

  @Access(OWN_NOTICES)
  @Mutation(() => StockNotice, { description: 'Asks to be told when a variant is there again.' })
  requestStockNotice(
    @Arg('input', () => RequestStockNoticeInput) { variantId }: RequestStockNoticeInput,
    @Ctx() ctx: Context,
  ): Promise<StockNotice> {
    return requestStockNotice(ctx, variantId);
  }

  @Access(OWN_NOTICES)
  @Mutation(() => StockNotice)
  cancelStockNotice(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StockNotice> {
    return cancelStockNotice(ctx, id);
  }

  @Access(OWN_NOTICES)
  @FieldResolver(() => ProductVariant, { nullable: true })
  variant(@Root() { variantId }: StockNotice, @Ctx() ctx: Context): Promise<ProductVariant | null> {
    return loadRow(ctx, ProductVariant, 'id', variantId);
  }
}
