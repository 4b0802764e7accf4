interface Refund {
  status: string;
  payment_amount: number;
  total_refunded: number;
  obligation_amount?: number | null | undefined;
  obligation_refunded?: number | null | undefined;
}

/**
 * Whether everything that was paid has gone back, by card, cash and credit alike; an event of before those were told says it of the
 * card alone. Source: entitlements 5.
 */
export function isFullRefund({ status, payment_amount, total_refunded, obligation_amount, obligation_refunded }: Refund): boolean {
  if (status !== 'succeeded') return false;
  if (obligation_amount != null && obligation_refunded != null) return obligation_refunded >= obligation_amount;
  return total_refunded >= payment_amount;
}
