import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

const ASK = stored('query CashWallets($userId: ID!) { wallets(userId: $userId) { kind balance { amount currency } } }');

interface Answer {
  wallets: { kind: string; balance: { amount: number; currency: string } }[];
}

/** What stands between accounting and an answer: it is not in the federation yet, or cannot be reached. */
const SILENT = ['invalid_request', 'unavailable'];

/** Balances of a user's cash wallets in the books, minor units by currency; null where accounting does not answer. Source: cash 7.5. */
export async function walletsOf(ctx: Context, userId: string): Promise<Map<string, number> | null> {
  try {
    const { wallets } = await ctx.federation.run<Answer>(ASK, { userId });
    const cash = wallets.filter(({ kind }) => kind === 'CASH');
    return new Map(cash.map(({ balance }) => [balance.currency, balance.amount]));
  } catch (error) {
    if (error instanceof Problem && SILENT.includes(error.code)) return null;
    throw error;
  }
}
