import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const ASK = stored(`query PaymentsVisit($id: ID!) {
  bookingVisit(id: $id) { id user { id } lateCancelFee { amount currency } feeApplies checkoutSession { id } }
}`);

interface Money {
  amount: number;
  currency: string;
}

/** A visit as its cancellation needs it. */
export interface Visit {
  id: string;
  user: { id: string };
  lateCancelFee: Money | null;
  feeApplies: boolean;
  /** What it was paid by. */
  checkoutSession: { id: string } | null;
}

/** A visit, asked of booking; null for an unknown one. @throws Problem unavailable while booking cannot be asked. */
export async function visitOf({ federation }: Pick<ServiceHost, 'federation'>, id: string): Promise<Visit | null> {
  return (await federation.run<{ bookingVisit: Visit | null }>(ASK, { id })).bookingVisit;
}
