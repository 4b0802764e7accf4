import { InvoiceLineKind as Kind } from '../entities/enums-billing.js';

/** Minor units of the invoice's currency; negative for what is taken off. */
export interface Line {
  kind: Kind;
  amount: number;
}

export interface Totals {
  subtotal: number;
  /** Not negative. */
  discount: number;
  tax: number;
  total: number;
}

const sum = (lines: readonly Line[]): number => lines.reduce((total, { amount }) => total + amount, 0);
const ofKind = (lines: readonly Line[], kind: Kind): Line[] => lines.filter(line => line.kind === kind);

/** `total = Σ lines`. @throws RangeError where that is below 0: what is too much goes to the credit balance as a line. Source: payments 2. */
export function totalsOf(lines: readonly Line[]): Totals {
  const [discount, tax, total] = [sum(ofKind(lines, Kind.DISCOUNT)), sum(ofKind(lines, Kind.TAX)), sum(lines)];
  if (total < 0) throw new RangeError('the lines of an invoice add up to less than 0');
  return { subtotal: total - discount - tax, discount: 0 - discount, tax, total };
}

export interface Reductions {
  cashApplied: number;
  creditApplied: number;
  amountPaid: number;
}

/** `total − cash − credit − paid`. @throws RangeError where that is below 0. */
export function dueOf(total: number, { cashApplied, creditApplied, amountPaid }: Reductions): number {
  const due = total - cashApplied - creditApplied - amountPaid;
  if (due < 0) throw new RangeError('more than an invoice asks for was applied to it');
  return due;
}

/** What a credit balance pays of a total. */
export const creditFor = (total: number, balance: number): number => Math.min(total, Math.max(0, balance));

/** `INV-2026-000042`; numbers have six digits, later ones more. */
export const documentNumber = (prefix: 'INV' | 'CN', year: number, n: number): string => `${prefix}-${year}-${String(n).padStart(6, '0')}`;
