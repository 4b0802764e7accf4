import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const POST = stored('mutation PaymentsKeepCredit($input: PostLedgerTransactionInput!) { postLedgerTransaction(input: $input) { id } }');

/** A part of what is deferred for one invoice or gift, minor units. */
export interface DeferredPart {
  key: string;
  amount: number;
}

interface Moved {
  /** Invoice of the change; the books know the move by it. */
  id: string;
  userId: string;
  currency: string;
  parts: readonly DeferredPart[];
}

/**
 * Paid time that a change has given back: from deferred revenue, whose schedule is cut by it, to the customer's credit. The same again: nothing.
 * @throws Problem unavailable while accounting cannot be reached. Source: accounting 5, direct calls by payments.
 */
export async function moveDeferred({ federation }: Pick<ServiceHost, 'federation'>, { id, userId, currency, parts }: Moved): Promise<void> {
  const suffix = currency.toLowerCase();
  const total = parts.reduce((sum, { amount }) => sum + amount, 0);
  const input = {
    source: { service: 'payments', type: 'proration_credit', id },
    description: 'proration credit',
    userId,
    entries: [
      ...parts.map(({ key, amount }) => ({
        accountCode: `liabilities:deferred_revenue:${suffix}`,
        direction: 'DEBIT',
        amount: { amount, currency },
        recognitionCut: { key, amount },
      })),
      { accountCode: `liabilities:wallet:credit:${userId}:${suffix}`, direction: 'CREDIT', amount: { amount: total, currency } },
    ],
    metadata: { invoice_id: id },
  };
  await federation.run(POST, { input });
}
