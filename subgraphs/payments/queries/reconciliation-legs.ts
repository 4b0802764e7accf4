import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import type { ReconciliationRun } from '../entities/reconciliation.js';
import { bookedCharges } from '../ports/accounting.js';
import { ordersOfPeriod } from '../ports/orders-of-period.js';
import type { BalanceTransaction } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import type { Legs, OrderLeg, OwnItem, ProcessorItem } from '../rules/reconciliation.js';

/** The two sides of a movement may lie on different sides of the period's edge, so far apart. */
const MARGIN_MS = 10 * MINUTE_MS;

interface Period {
  from: Date;
  to: Date;
}

export interface GatheredLegs extends Legs {
  /** Booked charges by payment, minor units; null: not compared. */
  readonly booked: ReadonlyMap<string, number> | null;
}

const isWithin = ({ from, to }: Period, at: Date): boolean => at >= from && at < to;
const widened = ({ from, to }: Period): Period => ({ from: after(from, -MARGIN_MS), to: after(to, MARGIN_MS) });

/** All movements of a period. @throws Problem unavailable where the processor does not answer. */
async function movements(host: ServiceHost, { from, to }: Period): Promise<BalanceTransaction[]> {
  const [processor, clock] = [processorOf(host), await host.read(async ctx => ctx.clock)];
  const found: BalanceTransaction[] = [];
  let cursor: string | null = null;
  do {
    const call = { idempotencyKey: `balance:${from.getTime()}:${cursor ?? ''}`, clock };
    const page = await processor.listBalanceTransactions({ from, to, cursor }, call);
    if (page.status !== 'succeeded') throw new Problem('unavailable', 'The processor did not answer');
    found.push(...page.data.items);
    cursor = page.data.nextCursor;
  } while (cursor !== null);
  return found;
}

/** Charges and refunds of the processor; what bounced is left out, because its two movements undo each other. */
function itemsOf(all: readonly BalanceTransaction[], period: Period): ProcessorItem[] {
  const bounced = new Set(all.filter(one => one.kind === 'refund_failure').map(one => one.sourceId));
  const items = new Map<string, ProcessorItem>();
  for (const { kind, sourceId, amount, currency, createdAt } of all) {
    if ((kind !== 'charge' && kind !== 'refund') || sourceId === null || bounced.has(sourceId)) continue;
    const known = items.get(`${kind}:${sourceId}`);
    const [count, total] = [(known?.count ?? 0) + 1, (known?.amount ?? 0) + Math.abs(amount)];
    const isInside = known?.isInside || isWithin(period, createdAt);
    items.set(`${kind}:${sourceId}`, { ref: sourceId, kind, amount: total, currency, count, isInside });
  }
  return [...items.values()];
}

interface OwnRow {
  kind: 'charge' | 'refund';
  ref: string | null;
  payment_id: string;
  order_id: string | null;
  amount: number;
  currency: string;
  settled: boolean;
  inside: boolean;
}

/** Ours: what the processor named, and what we say has moved in the period. */
const OWN = `
  select 'charge' as kind, p.processor_payment_id as ref, p.id as payment_id, p.order_id, p.amount_captured::float8 as amount, p.currency,
    p.status = 'succeeded' as settled, coalesce(p.captured_at >= $2 and p.captured_at < $3, false) as inside
  from payments.payment p where p.processor = $1 and (p.processor_payment_id = any($4) or (p.captured_at >= $2 and p.captured_at < $3))
  union all
  select 'refund', r.processor_refund_id, r.payment_id, r.order_id, r.amount::float8, r.currency,
    r.status = 'succeeded', coalesce(r.settled_at >= $2 and r.settled_at < $3, false)
  from payments.refund r where r.processor = $1 and r.payment_id is not null and r.processor_refund_id is not null
    and (r.processor_refund_id = any($4) or (r.status = 'succeeded' and r.settled_at >= $2 and r.settled_at < $3))`;

const ownItem = (row: OwnRow, booked: ReadonlyMap<string, number> | null): OwnItem => ({
  ref: row.ref,
  kind: row.kind,
  paymentId: row.payment_id,
  orderId: row.order_id,
  amount: row.amount,
  currency: row.currency.trim(),
  isSettled: row.settled,
  isInside: row.inside,
  isLedgered: booked === null || row.kind === 'refund' ? null : booked.has(row.payment_id),
});

async function ownItems(host: ServiceHost, { from, to }: Period, refs: string[], booked: GatheredLegs['booked']): Promise<OwnItem[]> {
  const name = processorOf(host).name;
  const rows = await host.read(ctx => ctx.sql<OwnRow>(OWN, [name, from.toISOString(), to.toISOString(), refs]));
  return rows.map(row => ownItem(row, booked));
}

const SETTLED_ORDERS = `select s.order_id as id, s.currency, (s.total + s.cash_applied + s.credit_applied)::float8 as paid, s.payment_id as "paymentId",
    s.paid_at >= $1 and s.paid_at < $2 as "isInside"
  from payments.checkout_session s where s.order_id is not null and s.paid_at is not null and (s.order_id = any($3::uuid[]) or (s.paid_at >= $1 and s.paid_at < $2))`;

async function settledOrders(host: ServiceHost, { from, to }: Period, ids: string[]): Promise<OrderLeg[]> {
  const rows = await host.read(ctx => ctx.sql<OrderLeg>(SETTLED_ORDERS, [from.toISOString(), to.toISOString(), ids]));
  return rows.map(row => ({ ...row, currency: row.currency.trim() }));
}

const ofCurrency =
  (currency: string | null) =>
  (one: { currency: string }): boolean =>
    currency === null || one.currency === currency;

/** Reads all sides of a period, outside any transaction. @throws Problem unavailable where the processor does not answer. */
export async function gatherLegs(
  host: ServiceHost,
  { fromAt: from, toAt: to, currency, includeLedger }: ReconciliationRun,
): Promise<GatheredLegs> {
  const [period, wide, isWanted] = [{ from, to }, widened({ from, to }), ofCurrency(currency)];
  const all = (await movements(host, wide)).filter(isWanted);
  const booked = includeLedger ? await bookedCharges(host, wide.from, wide.to) : null;
  const processor = itemsOf(all, period);
  const payments = (
    await ownItems(
      host,
      period,
      processor.map(one => one.ref),
      booked,
    )
  ).filter(isWanted);
  const orders = await ordersOfPeriod(host, wide.from, wide.to);
  const storefront =
    orders &&
    orders
      .map(one => ({ id: one.id, currency: one.currency, paid: one.amount, paymentId: null, isInside: isWithin(period, one.placedAt) }))
      .filter(isWanted);
  const settled = storefront
    ? await settledOrders(
        host,
        period,
        storefront.map(one => one.id),
      )
    : [];
  return { processor, payments, storefront, settledOrders: settled.filter(isWanted), booked };
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);
const signed = ({ kind, amount }: { kind: string; amount: number }): number => (kind === 'refund' ? -amount : amount);

/** The currency in which most moved, where none was asked for. */
function mainCurrency({ processor, payments }: Legs): string {
  const counts = new Map<string, number>();
  for (const { currency } of [...processor, ...payments]) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'USD';
}

/** Charged less refunded of the period, by each side, in one currency. */
export function totalsOf(legs: GatheredLegs, asked: string | null): Partial<ReconciliationRun> {
  const currency = asked ?? mainCurrency(legs);
  const counted = <T extends { currency: string; isInside: boolean }>(list: readonly T[]): T[] =>
    list.filter(one => one.isInside && one.currency === currency);
  const own = counted(legs.payments).filter(one => one.isSettled);
  const { booked, storefront } = legs;
  const charges = own.filter(one => one.kind === 'charge');
  return {
    currency,
    processorTotal: sum(counted(legs.processor).map(signed)),
    paymentsTotal: sum(own.map(signed)),
    storefrontTotal: storefront && sum(counted(storefront).map(one => one.paid)),
    ledgerTotal: booked && sum(charges.map(one => booked.get(one.paymentId) ?? 0)),
  };
}
