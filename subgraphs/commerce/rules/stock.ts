import { AvailabilityStatus, BackorderPolicy, InventoryLotStatus } from '../entities/enums.js';

/** Days that a lot must have left to be sold. Source: commerce 2, rule 10. */
export const SELLABLE_DAYS = 14;
const DAY_MS = 86_400_000;
/** Members are not told of more. */
const SHOWN_QUANTITY = 10;

export interface Lot {
  id: string;
  status: InventoryLotStatus;
  expiresOn: string | null;
  free: number;
}

/** Whether units of a lot can be sold on a day, `YYYY-MM-DD`: AVAILABLE and no expiry, or more than 14 days left. */
export function isSellable({ status, expiresOn }: Pick<Lot, 'status' | 'expiresOn'>, today: string): boolean {
  if (status !== InventoryLotStatus.AVAILABLE) return false;
  return expiresOn === null || Date.parse(expiresOn) - Date.parse(today) > SELLABLE_DAYS * DAY_MS;
}

const byExpiry = (a: Pick<Lot, 'expiresOn'>, b: Pick<Lot, 'expiresOn'>): number =>
  (a.expiresOn ?? '9999').localeCompare(b.expiresOn ?? '9999');

/** Units by lot, first expired first out; fewer than asked where the lots do not have them. Source: commerce 7.10. */
export function pickLots<L extends Lot>(lots: readonly L[], quantity: number, today: string): { lot: L; quantity: number }[] {
  const picked: { lot: L; quantity: number }[] = [];
  let left = quantity;
  for (const lot of lots.filter(one => isSellable(one, today)).sort(byExpiry)) {
    const taken = Math.min(left, lot.free);
    if (taken > 0) picked.push({ lot, quantity: taken });
    left -= taken;
  }
  return picked;
}

/** What is known of a variant's stock. */
export interface Stock {
  tracked: boolean;
  /** On hand less allocated, safety stock and live reservations. */
  available: number;
  backorder: BackorderPolicy;
  backorderLimit: number;
}

/** Units that can be taken now; Infinity where nothing is counted. */
export const takeable = ({ tracked, available, backorder, backorderLimit }: Stock): number =>
  tracked ? Math.max(0, available + (backorder === BackorderPolicy.ALLOW ? backorderLimit : 0)) : Infinity;

const UNCOUNTED: Stock = { tracked: false, available: Infinity, backorder: BackorderPolicy.DENY, backorderLimit: 0 };

/** Stock of a bundle: as many as its scarcest component allows. */
export function bundleStock(parts: readonly { stock: Stock; quantity: number }[]): Stock {
  const tracked = parts.filter(({ stock }) => stock.tracked);
  if (tracked.length === 0) return UNCOUNTED;
  const least = (of: (stock: Stock) => number): number =>
    Math.min(...tracked.map(({ stock, quantity }) => Math.floor(of(stock) / quantity)));
  const available = least(stock => stock.available);
  const most = least(takeable);
  return { tracked: true, available, backorder: BackorderPolicy.ALLOW, backorderLimit: Math.max(0, most - Math.max(0, available)) };
}

/** What a buyer is shown. @param isStaff sees every quantity. */
export function availabilityOf(stock: Stock, isStaff: boolean): { status: AvailabilityStatus; quantity: number | null } {
  if (!stock.tracked) return { status: AvailabilityStatus.IN_STOCK, quantity: null };
  const quantity = Math.max(0, stock.available);
  const shown = isStaff || quantity <= SHOWN_QUANTITY ? quantity : null;
  if (quantity > SHOWN_QUANTITY) return { status: AvailabilityStatus.IN_STOCK, quantity: shown };
  if (quantity > 0) return { status: AvailabilityStatus.LOW_STOCK, quantity: shown };
  return { status: takeable(stock) > 0 ? AvailabilityStatus.BACKORDER : AvailabilityStatus.OUT_OF_STOCK, quantity: shown };
}

/** Which reservation ends first where stock is lost: CART before SUBSCRIPTION before CHECKOUT, the newest first. Source: commerce 2. */
export function endingOrder<R extends { kind: string; createdAt: string; id: string }>(reservations: readonly R[]): R[] {
  const rank = (kind: string): number => ['cart', 'subscription', 'checkout'].indexOf(kind);
  return [...reservations].sort(
    (a, b) => rank(a.kind) - rank(b.kind) || b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id),
  );
}
