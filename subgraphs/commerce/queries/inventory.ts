import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { InventoryLevel, InventoryLot, StockMovement, StockNotice } from '../entities/inventory.js';
import type {
  InventoryFilter,
  InventoryLevelsArgs,
  InventoryLotFilter,
  InventoryLotsArgs,
  StockMovementFilter,
  StockMovementsArgs,
} from '../inputs/inventory.js';

type Filter = InventoryFilter & Partial<InventoryLotFilter> & Partial<StockMovementFilter>;

async function whereOf(ctx: Context, filter: Filter | null | undefined): Promise<Record<string, unknown>> {
  const { sku, locationId, lotNumber, status, expiresBy, kind, from, to } = filter ?? {};
  const where: Record<string, unknown> = {};
  if (sku != null)
    where.variantId = {
      $in: (await ctx.sql<{ id: string }>('select id from commerce.product_variant where sku = $1', [sku])).map(one => one.id),
    };
  if (locationId != null) where.locationId = locationId.toLowerCase();
  if (lotNumber != null) where.lotNumber = lotNumber;
  if (status != null) where.status = status;
  if (expiresBy != null) where.expiresOn = { $lte: expiresBy };
  if (kind != null) where.kind = kind;
  if (from != null || to != null) where.createdAt = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
  return where;
}

async function listed<Row extends { id: string; createdAt: Date }>(
  ctx: Context,
  entity: EntityClass<Row>,
  filter: Filter | null | undefined,
  args: { first: number; after?: string | null },
): Promise<Connection<Row>> {
  return page(ctx.em, entity, (await whereOf(ctx, filter)) as FilterQuery<NoInfer<Row>>, args, { time: 'createdAt' as keyof Row & string });
}

export const levelsPage = (ctx: Context, { filter, ...args }: InventoryLevelsArgs): Promise<Connection<InventoryLevel>> =>
  listed(ctx, InventoryLevel, filter, args);
export const lotsPage = (ctx: Context, { filter, ...args }: InventoryLotsArgs): Promise<Connection<InventoryLot>> =>
  listed(ctx, InventoryLot, filter, args);
export const movementsPage = (ctx: Context, { filter, ...args }: StockMovementsArgs): Promise<Connection<StockMovement>> =>
  listed(ctx, StockMovement, filter, args);

export const noticesPage = (ctx: Context, args: { first: number; after?: string | null }): Promise<Connection<StockNotice>> =>
  page(ctx.em, StockNotice, { userId: ctx.caller.userId!, closedAt: null }, args, { time: 'createdAt' });
