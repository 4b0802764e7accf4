import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const ASK = stored(`query PaymentsOrdersOfPeriod($from: DateTime!, $to: DateTime!, $after: String) {
  orders(filter: { placedFrom: $from, placedTo: $to }, first: 100, after: $after) {
    nodes { id paymentStatus placedAt totals { total { amount currency } } } pageInfo { endCursor hasNextPage }
  }
}`);

/** A paid order; amount in minor units: card, cash and credit. */
export interface PaidOrder {
  id: string;
  placedAt: Date;
  amount: number;
  currency: string;
}

interface Node {
  id: string;
  paymentStatus: string;
  placedAt: string;
  totals: { total: { amount: number; currency: string } };
}

interface Page {
  orders: { nodes: Node[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } };
}

/** What was paid through payments, also where it went back later. */
const PAID: readonly string[] = ['PAID', 'PARTIALLY_REFUNDED', 'REFUNDED'];

const orderFrom = ({ id, placedAt, totals }: Node): PaidOrder => ({ id, placedAt: new Date(placedAt), ...totals.total });

/** Paid orders that were placed in a period, asked of commerce; null where it is not in the supergraph, or silent. Source: payments 6. */
export async function ordersOfPeriod({ federation }: Pick<ServiceHost, 'federation'>, from: Date, to: Date): Promise<PaidOrder[] | null> {
  const orders: PaidOrder[] = [];
  let after: string | null = null;
  do {
    const variables: Record<string, unknown> = { from: from.toISOString(), to: to.toISOString(), after };
    const page: Page | null = await federation.run<Page>(ASK, variables).catch(() => null);
    if (page === null) return null;
    const { nodes, pageInfo }: Page['orders'] = page.orders;
    orders.push(...nodes.filter(({ paymentStatus }) => PAID.includes(paymentStatus)).map(orderFrom));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  return orders;
}
