import { allocate, exclusiveTax, inclusiveTax } from './money.js';

/** A line before discount and tax; minor units. */
export interface LineToPrice {
  unitPrice: number;
  quantity: number;
  /** Tax rate, parts per million. */
  ppm: number;
  taxInclusive: boolean;
}

export interface PricedLine {
  subtotal: number;
  discount: number;
  tax: number;
  total: number;
}

export interface PricedTotals {
  subtotal: number;
  discount: number;
  shipping: number;
  tax: number;
  total: number;
  taxIncluded: boolean;
}

/** Discount of an order, or what of it each line takes already. */
export type Discount = { amount: number } | { lines: readonly number[] };

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

function discountsOf(subtotals: readonly number[], discount: Discount): number[] {
  if ('lines' in discount) return subtotals.map((subtotal, index) => Math.min(subtotal, discount.lines[index] ?? 0));
  return allocate(Math.min(discount.amount, sum(subtotals)), subtotals);
}

/**
 * Prices lines and what they sum to. Where prices with and without tax meet in one cart, those that hold it are shown without.
 * `taxes` are amounts that an outside service has found; else the lines' rates decide. Source: commerce 7.3-7.5.
 */
export function price(
  lines: readonly LineToPrice[],
  discount: Discount,
  shipping: number,
  taxes: readonly number[] | null = null,
): { lines: PricedLine[]; totals: PricedTotals } {
  const gross = lines.map(({ unitPrice, quantity }) => unitPrice * quantity);
  const discounts = discountsOf(gross, discount);
  const taxIncluded = lines.length > 0 && lines.every(one => one.taxInclusive);
  const priced = lines.map(({ ppm, taxInclusive }, index): PricedLine => {
    const [subtotal, off] = [gross[index]!, discounts[index]!];
    const tax = taxes?.[index] ?? (taxInclusive ? inclusiveTax(subtotal - off, ppm) : exclusiveTax(subtotal - off, ppm));
    const net = taxInclusive && !taxIncluded ? subtotal - tax : subtotal;
    return { subtotal: net, discount: off, tax, total: net - off + (taxIncluded ? 0 : tax) };
  });
  const [subtotal, off, tax] = [sum(priced.map(one => one.subtotal)), sum(discounts), sum(priced.map(one => one.tax))];
  const total = subtotal - off + shipping + (taxIncluded ? 0 : tax);
  return { lines: priced, totals: { subtotal, discount: off, shipping, tax, total, taxIncluded } };
}
