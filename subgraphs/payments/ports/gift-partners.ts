import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Gift } from '../entities/gift.js';

const GRANT = stored('mutation GiftGrant($input: GrantCashInput!) { grantCash(input: $input) { id } }');
const BOOK = stored('mutation GiftBooking($input: PostLedgerTransactionInput!) { postLedgerTransaction(input: $input) { id } }');

type Asker = Pick<ServiceHost, 'federation'>;
type Redeemed = Pick<Gift, 'id' | 'valueMinor' | 'currency' | 'redeemedById' | 'coversFrom' | 'coversTo'>;

/** The credit of a gift as cash of whoever redeemed it; the gift is the reference, so it is granted once. @throws Problem. Source: cash 2. */
export async function grantGift({ federation }: Asker, { id, valueMinor, currency, redeemedById }: Redeemed): Promise<string> {
  const input = { userId: redeemedById, source: 'GIFT', amount: { amount: valueMinor, currency }, reference: { type: 'gift', id } };
  const { grantCash } = await federation.run<{ grantCash: { id: string } }>(GRANT, { input }, { idempotencyKey: `gift:${id}` });
  return grantCash.id;
}

/**
 * What was owed as a gift is owed as a membership now, and becomes income over its time. The gift is the source, so it is booked once.
 * @throws Problem. Source: accounting 5, direct calls by payments.
 */
export async function bookGift({ federation }: Asker, gift: Redeemed): Promise<void> {
  const { id, valueMinor, currency, redeemedById: userId, coversFrom: from, coversTo: to } = gift;
  const [amount, suffix] = [{ amount: valueMinor, currency }, currency.toLowerCase()];
  const entries = [
    { accountCode: `liabilities:gifts:${suffix}`, direction: 'DEBIT', amount },
    { accountCode: `liabilities:deferred_revenue:${suffix}`, direction: 'CREDIT', amount, recognition: { key: id, from, to } },
  ];
  const source = { service: 'payments', type: 'gift_redeemed', id };
  await federation.run(BOOK, { input: { source, description: 'gift redeemed', userId, entries } }, { idempotencyKey: `gift:${id}` });
}
