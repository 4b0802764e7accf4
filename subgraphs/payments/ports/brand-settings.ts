import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

/** Minor units by currency: `{"USD": 50000}`. */
const KEY = 'payments.refund_approval';
const ASK = stored(`query PaymentsRefundApproval($brand: ID!, $prefix: String) {
  effectiveConfig(brandId: $brand, prefix: $prefix) { key value }
}`);

interface Answer {
  effectiveConfig: { key: string; value: unknown }[];
}

/** What staff of a brand may give back without a second person, in platform's configuration; null for none. @throws Problem unavailable. */
export async function refundThresholds({ federation }: Pick<ServiceHost, 'federation'>, brandId: string): Promise<unknown> {
  const { effectiveConfig } = await federation.run<Answer>(ASK, { brand: brandId, prefix: KEY });
  return effectiveConfig.find(({ key }) => key === KEY)?.value ?? null;
}
