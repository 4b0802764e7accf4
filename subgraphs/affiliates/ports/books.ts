import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

const ASK = stored('query AffiliatesWallets($userId: ID!) { wallets(userId: $userId) { kind balance { amount currency } } }');

interface Answer {
  wallets: { kind: string; balance: { amount: number; currency: string } }[];
}

/** Balances of a user's earnings wallets in the books, minor units by currency; null where accounting does not answer. Source: affiliates 7.8. */
export async function earningsWallets(host: ServiceHost, userId: string): Promise<ReadonlyMap<string, number> | null> {
  try {
    const { wallets } = await host.federation.run<Answer>(ASK, { userId });
    return new Map(wallets.filter(({ kind }) => kind === 'EARNINGS').map(({ balance }) => [balance.currency, balance.amount]));
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
