import type { Reached, Shop, Variant } from '../../commerce/shop.js';

/** The two warehouses of the seeds, in the order in which they are taken from. */
export const PLACES = ['0190b3a0-0000-7000-8000-000000c00001', '0190b3a0-0000-7000-8000-000000c00002'] as const;

/** A lot as it was received. */
export interface Lot {
  readonly id: string;
  readonly number: string;
  readonly good: Good;
  readonly place: string;
  state: 'available' | 'quarantined' | 'recalled';
}

/** What is sold. */
export interface Good extends Variant {
  /** Minor units, before it is repriced. */
  readonly price: number;
  readonly hasLots: boolean;
  /** Units of plain variants in one unit. */
  readonly parts: ReadonlyMap<string, number>;
  /** Units at the beginning. */
  readonly stock: number;
}

async function plain(shop: Shop<Reached>, price: number, stock: number, more: object = {}): Promise<Good> {
  const variant = await shop.sell({ price, stock, more });
  return { ...variant, price, stock, hasLots: false, parts: new Map([[variant.id, 1]]) };
}

async function withLots(shop: Shop<Reached>, price: number): Promise<Good> {
  const variant = await shop.sell({ price, lots: [] });
  return { ...variant, price, stock: 0, hasLots: true, parts: new Map([[variant.id, 1]]) };
}

async function bundle(shop: Shop<Reached>, price: number, ...of: readonly (readonly [Good, number])[]): Promise<Good> {
  const variant = await shop.sell({ price, components: of.map(([{ sku }, quantity]) => ({ sku, quantity })) });
  return { ...variant, price, stock: 0, hasLots: false, parts: new Map(of.map(([{ id }, quantity]) => [id, quantity])) };
}

/** Few things, so that shoppers meet; a total ends in 02, 03 or 04 with those of which one may have one alone. */
export async function stocked(shop: Shop<Reached>): Promise<Good[]> {
  const one = { max_per_order: 1 };
  const [simple, light] = [await plain(shop, 1_200, 30), await plain(shop, 2_500, 30, { requires_shipping: false })];
  const [dated, other] = [await withLots(shop, 3_300), await withLots(shop, 4_100)];
  const set = await bundle(shop, 5_000, [simple, 2], [dated, 1]);
  return [simple, light, dated, other, set, await plain(shop, 1_003, 300, one), await plain(shop, 1_004, 300, one)];
}
