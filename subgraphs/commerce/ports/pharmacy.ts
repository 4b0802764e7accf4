import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { ask } from './neighbour.js';

const SUBMIT = stored(
  'mutation CommerceSubmitPartnerOrder($input: SubmitPartnerOrderInput!) { submitPartnerOrder(input: $input) { orderRef } }',
);
const REFILL = stored('mutation CommerceUseRefill($input: UseRefillInput!) { useRefill(input: $input) { id } }');
const LOOK_UP = stored('query CommercePartnerOrder($ref: String!) { partnerOrder(ref: $ref) { commerceOrderId commerceLineId } }');

export interface PharmacyLine {
  orderId: string;
  lineId: string;
  userId: string;
  medicationCode: string;
  quantity: number;
}

/** Hands a line to the pharmacy, by order and line, then uses a refill by the line's id; both can be repeated. @returns its reference. */
export async function submitToPharmacy(host: ServiceHost, line: PharmacyLine): Promise<string> {
  if (host.config.setting('COMMERCE_ELIGIBILITY') === 'table' && !host.config.production) return `embedded-${line.lineId}`;
  const key = `pharmacy:${line.orderId}:${line.lineId}`;
  const { orderId, lineId, userId, medicationCode, quantity } = line;
  const input = { commerceOrderId: orderId, commerceLineId: lineId, userId, medicationCode, quantity };
  const { submitPartnerOrder } = await ask<{ submitPartnerOrder: { orderRef: string } }>(host, SUBMIT, { input }, { idempotencyKey: key });
  await ask(host, REFILL, { input: { userId, medicationCode, idempotencyKey: lineId } }, { idempotencyKey: `refill:${lineId}` });
  return submitPartnerOrder.orderRef;
}

/** Which line of ours an order of the pharmacy is for; null: none, or partner is not there. */
export async function lineOfPartnerOrder(
  host: Pick<ServiceHost, 'federation'>,
  ref: string,
): Promise<{ orderId: string; lineId: string | null } | null> {
  type Answer = { partnerOrder: { commerceOrderId: string | null; commerceLineId: string | null } | null };
  const { partnerOrder } = await ask<Answer>(host, LOOK_UP, { ref });
  return partnerOrder?.commerceOrderId ? { orderId: partnerOrder.commerceOrderId, lineId: partnerOrder.commerceLineId } : null;
}
