import { createHash } from 'node:crypto';
import type { StorefrontOrder, StorefrontProduct } from './storefront-record.js';

/** What became of a record. A code says why it was left out or could not be taken over. */
export type Outcome = { kind: 'created' | 'updated' | 'unchanged'; code?: undefined } | { kind: 'skipped' | 'failed'; code: string };

export const skipped = (code: string): Outcome => ({ kind: 'skipped', code });
export const failed = (code: string): Outcome => ({ kind: 'failed', code });

/** By which it is seen whether a record has changed. Nothing of a person is hashed with it. */
export const contentHash = (content: unknown): string => createHash('sha256').update(JSON.stringify(content)).digest('base64url');

/** What of a product is taken over: stock goes the other way, so it is not content. */
export const productHash = ({ variants, ...product }: StorefrontProduct): string =>
  contentHash([product, variants.map(({ quantity: _stock, ...variant }) => variant)]);

/** Whose an order is, and where it goes, stay what they were at the import. */
export const orderHash = ({ personal: _personal, customer: _customer, ...order }: StorefrontOrder): string => contentHash(order);

const isAmount = (amount: number): boolean => Number.isSafeInteger(amount) && amount >= 0;
const SLUG = /^[a-z0-9-]{1,80}$/;
const SKU = /^[A-Za-z0-9._-]{1,64}$/;

/** Why a product cannot be taken over; null: it can. Source: commerce 2. */
export function productFault({ handle, title, variants }: StorefrontProduct): string | null {
  if (!SLUG.test(handle)) return 'invalid_handle';
  if (title.trim() === '' || title.length > 160) return 'invalid_title';
  if (variants.length === 0 || variants.length > 100) return 'invalid_variants';
  if (variants.some(one => !SKU.test(one.sku))) return 'invalid_sku';
  if (new Set(variants.map(one => one.sku)).size < variants.length) return 'repeated_sku';
  if (variants.some(one => !isAmount(one.price.amount))) return 'invalid_price';
  return null;
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);

/** Amounts of an order together. */
export function orderSums({ lines, shipping, tax, total, taxIncluded }: StorefrontOrder) {
  const subtotal = sum(lines.map(one => one.unitPrice * one.quantity));
  const discount = sum(lines.map(one => one.discount));
  return { subtotal, discount, shipping, tax, total, taxIncluded };
}

/** Why an order cannot be taken over; null: it can. Source: commerce 7.5. */
export function orderFault(order: StorefrontOrder): string | null {
  const { lines } = order;
  const sums = orderSums(order);
  const { subtotal, discount, shipping, tax, total, taxIncluded } = sums;
  if (lines.length === 0 || lines.length > 100) return 'invalid_lines';
  if (lines.some(one => !Number.isSafeInteger(one.quantity) || one.quantity < 1)) return 'invalid_quantity';
  if (![subtotal, discount, shipping, tax, total, ...lines.map(one => one.unitPrice)].every(isAmount)) return 'invalid_amount';
  if (subtotal - discount + shipping + (taxIncluded ? 0 : tax) !== total) return 'totals_mismatch';
  return null;
}

const FIRST_MS = 1_000;
export const LONGEST_PAUSE_MS = 60_000;
/** After so many failures without progress between them a run is over. */
export const MOST_ATTEMPTS = 8;

/** How long a run waits after its n-th failure in a row, ms: what the storefront says, else doubled each time with a jitter, a minute at most. */
export function pauseAfter(attempts: number, waitMs: number | null, random = Math.random()): number {
  if (waitMs !== null) return waitMs;
  return Math.min(LONGEST_PAUSE_MS, FIRST_MS * 2 ** attempts) * (0.5 + random / 2);
}
