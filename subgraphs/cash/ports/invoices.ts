import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';

const ASK = stored('query CashInvoice($id: ID!) { invoice(id: $id) { user { id } amountDue { amount currency } } }');

/** What cash needs of an invoice. */
export interface Invoice {
  user: { id: string };
  amountDue: { amount: number; currency: string };
}

/** An invoice that a member wants to settle, asked of payments; null for an unknown one. @throws Problem while payments cannot be asked. */
export const invoiceOf = async (ctx: Context, id: string): Promise<Invoice | null> =>
  (await ctx.federation.run<{ invoice: Invoice | null }>(ASK, { id })).invoice;
