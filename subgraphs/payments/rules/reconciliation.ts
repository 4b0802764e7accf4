import { ReconciliationDiscrepancyKind as Kind } from '../entities/enums-operations.js';

/** A charge or refund as the processor's balance has it. */
export interface ProcessorItem {
  readonly ref: string;
  readonly kind: 'charge' | 'refund';
  readonly amount: number;
  readonly currency: string;
  /** Movements; a second one of the same charge took the money twice. */
  readonly count: number;
  /** In the period itself; else near it, only so that a partner across its edge is found. */
  readonly isInside: boolean;
}

/** A charge or refund as payments has it. */
export interface OwnItem {
  readonly ref: string | null;
  readonly kind: 'charge' | 'refund';
  readonly paymentId: string;
  readonly orderId: string | null;
  readonly amount: number;
  readonly currency: string;
  /** By our account the money has moved. */
  readonly isSettled: boolean;
  readonly isInside: boolean;
  /** Of a charge: the books have it; null: not compared. */
  readonly isLedgered: boolean | null;
}

/** A paid order as the shop has it, or as payments settled it: card, cash and credit. */
export interface OrderLeg {
  readonly id: string;
  readonly currency: string;
  readonly paid: number;
  readonly paymentId: string | null;
  readonly isInside: boolean;
}

export interface Discrepancy {
  readonly kind: Kind;
  readonly processorRef: string | null;
  readonly paymentId: string | null;
  readonly orderId: string | null;
  readonly expected: number | null;
  readonly actual: number | null;
  readonly currency: string | null;
}

export interface Comparison {
  readonly compared: number;
  readonly matched: number;
  readonly discrepancies: readonly Discrepancy[];
}

const NOTHING = { processorRef: null, paymentId: null, orderId: null, expected: null, actual: null, currency: null };
const found = (kind: Kind, more: Partial<Discrepancy>): Discrepancy => ({ kind, ...NOTHING, ...more });

/** What the processor has, against what we have of it. */
function judge(theirs: ProcessorItem, ours: OwnItem | undefined): Discrepancy[] {
  const about = { processorRef: theirs.ref, currency: theirs.currency, paymentId: ours?.paymentId ?? null, orderId: ours?.orderId ?? null };
  const twice = theirs.count > 1 ? [found(Kind.DUPLICATE_CHARGE, { ...about, actual: theirs.amount })] : [];
  if (!ours) return [...twice, found(Kind.MISSING_IN_PAYMENTS, { ...about, actual: theirs.amount })];
  if (ours.currency !== theirs.currency) return [...twice, found(Kind.CURRENCY_MISMATCH, about)];
  const amounts = { expected: ours.amount, actual: theirs.amount };
  if (!ours.isSettled) return [...twice, found(Kind.STATUS_MISMATCH, { ...about, expected: 0, actual: theirs.amount })];
  return ours.amount === theirs.amount || twice.length > 0 ? twice : [found(Kind.AMOUNT_MISMATCH, { ...about, ...amounts })];
}

/** What we have and the processor does not. */
const missing = ({ ref, paymentId, orderId, amount, currency }: OwnItem): Discrepancy =>
  found(Kind.MISSING_AT_PROCESSOR, { processorRef: ref, paymentId, orderId, expected: amount, currency });

const unledgered = ({ isLedgered, paymentId, orderId, amount, currency }: OwnItem): Discrepancy[] =>
  isLedgered === false ? [found(Kind.UNLEDGERED, { paymentId, orderId, expected: amount, currency })] : [];

/** An order that the shop calls paid, against what was settled for it. */
function judgeOrder(order: OrderLeg, settled: OrderLeg | undefined): Discrepancy[] {
  const about = { orderId: order.id, paymentId: settled?.paymentId ?? null, expected: order.paid, currency: order.currency };
  if (!settled) return [found(Kind.MISSING_AT_PROCESSOR, about)];
  if (settled.currency !== order.currency) return [found(Kind.CURRENCY_MISMATCH, { ...about, expected: null })];
  return settled.paid === order.paid ? [] : [found(Kind.AMOUNT_MISMATCH, { ...about, actual: settled.paid })];
}

const missingOrder = ({ id, paymentId, paid, currency }: OrderLeg): Discrepancy =>
  found(Kind.MISSING_IN_STOREFRONT, { orderId: id, paymentId, expected: paid, currency });

const keyOf = ({ kind, ref }: { kind: string; ref: string | null }): string => `${kind}:${ref}`;

export interface Legs {
  readonly processor: readonly ProcessorItem[];
  readonly payments: readonly OwnItem[];
  /** Null: the shop is not there, and is not compared. */
  readonly storefront: readonly OrderLeg[] | null;
  readonly settledOrders: readonly OrderLeg[];
}

/** Compares what processor, payments, shop and books say of a period; it judges, and changes nothing. Source: payments 4.4. */
export function compare({ processor, payments, storefront, settledOrders }: Legs): Comparison {
  const ours = new Map(payments.map(one => [keyOf(one), one]));
  const theirs = new Set(processor.map(keyOf));
  const inside = payments.filter(one => one.isInside && one.isSettled);
  const settled = new Map(settledOrders.map(one => [one.id, one]));
  const sold = new Set((storefront ?? []).map(one => one.id));
  const groups = [
    ...processor.filter(one => one.isInside).map(one => judge(one, ours.get(keyOf(one)))),
    ...inside.filter(one => !theirs.has(keyOf(one))).map(one => [missing(one)]),
    ...inside.map(unledgered).filter(group => group.length > 0),
    ...(storefront ?? []).filter(one => one.isInside).map(one => judgeOrder(one, settled.get(one.id))),
    ...(storefront === null ? [] : settledOrders.filter(one => one.isInside && !sold.has(one.id)).map(one => [missingOrder(one)])),
  ];
  return { compared: groups.length, matched: groups.filter(group => group.length === 0).length, discrepancies: groups.flat() };
}
