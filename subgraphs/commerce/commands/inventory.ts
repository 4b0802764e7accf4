import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { InventoryLotStatus, StockMovementKind } from '../entities/enums.js';
import { InventoryLevel, InventoryLot } from '../entities/inventory.js';
import { ProductVariant } from '../entities/product.js';
import type { AdjustInventoryInput, CreateInventoryLotInput, QuarantineLotInput } from '../inputs/inventory.js';
import { notifyStock } from './stock-notice.js';
import { lockJudged, move, rejudge } from './stock.js';

/** @throws Problem not_found. */
export const variantOf = (ctx: Context, sku: string): Promise<ProductVariant> =>
  requireRow(ctx, ProductVariant, { sku }, 'No such variant');

const DEFAULT_LOCATION = 'select id from commerce.inventory_location where active order by priority, code limit 1';

async function locationOf(ctx: Context, id: string | null | undefined): Promise<string> {
  const text = id == null ? DEFAULT_LOCATION : 'select id from commerce.inventory_location where id = $1';
  const [found] = await ctx.sql<{ id: string }>(text, id == null ? [] : [id.toLowerCase()]);
  return found?.id ?? fail('not_found', 'No such location');
}

/** Makes the level of a variant at a location where there is none, so that whoever changes stock has a row to lock. */
export async function ensureLevel(ctx: Context, variantId: string, locationId: string): Promise<void> {
  const text = `insert into commerce.inventory_level (id, variant_id, location_id, created_at, updated_at) values ($1, $2, $3, $4, $4) on conflict (variant_id, location_id) do nothing`;
  await ctx.sql(text, [newId(), variantId, locationId, ctx.now().toISOString()]);
}

/** A level of a new variant, so that it can be locked before it has any stock. */
export async function ensureSomeLevel(ctx: Context, variantId: string): Promise<void> {
  const [place] = await ctx.sql<{ id: string }>(DEFAULT_LOCATION);
  if (place) await ensureLevel(ctx, variantId, place.id);
}

/** After stock came: who waits for it is told, reservations are judged again. */
async function settled(ctx: Context, variantId: string): Promise<void> {
  await rejudge(ctx, [variantId]);
  await notifyStock(ctx, [variantId]);
}

/** Units of a new lot arrive. @throws Problem not_found, conflict for a lot that is there already. */
export async function createInventoryLot(ctx: Context, input: CreateInventoryLotInput): Promise<InventoryLot> {
  const variant = await variantOf(ctx, input.sku);
  if (!variant.lotTracked) fail('conflict', 'The variant has no lots');
  const locationId = await locationOf(ctx, input.locationId);
  await ensureLevel(ctx, variant.id, locationId);
  await lockJudged(ctx, [variant.id]);
  const { lotNumber, expiresOn = null, quantity } = input;
  const lot = Object.assign(new InventoryLot(), {
    variantId: variant.id,
    locationId,
    lotNumber,
    expiresOn,
    onHand: 0,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  });
  await ctx.em.persist(lot).flush();
  await move(
    ctx,
    { variantId: variant.id, locationId, lotNumber, kind: StockMovementKind.RECEIPT, quantity, reference: `lot:${lot.id}` },
    lot.id,
  );
  await ctx.em.refresh(lot);
  await settled(ctx, variant.id);
  ctx.audit('inventory_lot.created', lot.id, { quantity });
  return lot;
}

async function lotFor(
  ctx: Context,
  variant: ProductVariant,
  locationId: string,
  lotNumber: string | null | undefined,
): Promise<InventoryLot | null> {
  if (!variant.lotTracked) return null;
  if (lotNumber == null) return invalid('/input/lotNumber', 'is required: the variant has lots');
  return requireRow(ctx, InventoryLot, { variantId: variant.id, locationId, lotNumber }, 'No such lot');
}

/** @throws Problem not_found, invalid_request, conflict where less is there. */
export async function adjustInventory(ctx: Context, input: AdjustInventoryInput): Promise<InventoryLevel> {
  const variant = await variantOf(ctx, input.sku);
  const locationId = await locationOf(ctx, input.locationId);
  await ensureLevel(ctx, variant.id, locationId);
  await lockJudged(ctx, [variant.id]);
  const level = await lockRow(ctx, InventoryLevel, { variantId: variant.id, locationId });
  const lot = await lotFor(ctx, variant, locationId, input.lotNumber);
  const free = lot ? lot.onHand - lot.allocated : level.onHand - level.allocated;
  if (input.quantity < 0 && free + input.quantity < 0)
    fail('conflict', `${Math.max(0, free)} are neither sold nor gone`, { reason: 'insufficient_stock' });
  const kind = input.receipt && input.quantity > 0 ? StockMovementKind.RECEIPT : StockMovementKind.ADJUSTMENT;
  const reference = `adjustment:${input.reason}`.slice(0, 200);
  await move(
    ctx,
    { variantId: variant.id, locationId, lotNumber: lot?.lotNumber ?? null, kind, quantity: input.quantity, reference },
    lot?.id ?? null,
  );
  if (input.safetyStock != null)
    await ctx.sql('update commerce.inventory_level set safety_stock = $2 where id = $1', [level.id, input.safetyStock]);
  await ctx.em.refresh(level);
  await settled(ctx, variant.id);
  ctx.audit('inventory.adjusted', level.id, { quantity: input.quantity, kind });
  return level;
}

/** Keeps a lot from being sold, or lets it be sold again. @throws Problem not_found, conflict for one that is recalled. */
export async function quarantineLot(ctx: Context, { id, release, reason, version }: QuarantineLotInput): Promise<InventoryLot> {
  const { variantId } = await requireRow(ctx, InventoryLot, { id: id.toLowerCase() }, 'No such lot');
  await lockJudged(ctx, [variantId]);
  const lot = await lockRow(ctx, InventoryLot, { id: id.toLowerCase() });
  requireVersion(lot, version);
  if (lot.status === InventoryLotStatus.RECALLED) fail('conflict', 'a lot that is recalled stays so');
  lot.status = !release ? InventoryLotStatus.QUARANTINED : lot.onHand === 0 ? InventoryLotStatus.DEPLETED : InventoryLotStatus.AVAILABLE;
  lot.updatedAt = ctx.now();
  lot.version += 1;
  await ctx.em.flush();
  await settled(ctx, variantId);
  ctx.audit(release ? 'inventory_lot.released' : 'inventory_lot.quarantined', lot.id, { reason_length: reason.length });
  return lot;
}
