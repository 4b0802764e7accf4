import { mayAccess, reachesAll, ruleOf } from '../../runtime/access/access.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { ACCOUNT_VIEWERS, CLOSERS, TRANSACTION_VIEWERS, WALLET_READERS } from './entities/access.js';
import { AccountingPeriod } from './entities/period.js';
import { LedgerTransaction } from './entities/transaction.js';
import { accountsBy } from './queries/accounts.js';
import { walletsBy } from './queries/wallets.js';

const accounts: ReferenceLoader = async (ctx, keys: readonly { id?: string; code?: string }[]) =>
  mayAccess(ruleOf(ACCOUNT_VIEWERS), ctx.caller) ? accountsBy(ctx, keys) : keys.map(() => null);

const wallets: ReferenceLoader = async (ctx, keys: readonly { id: string }[]) =>
  mayAccess(ruleOf(WALLET_READERS), ctx.caller)
    ? walletsBy(
        ctx,
        keys.map(({ id }) => id),
      )
    : keys.map(() => null);

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
const users: ReferenceLoader = async (ctx, keys: readonly { id: string }[]) =>
  keys.map(({ id }) => (reachesAll(ACCOUNT_VIEWERS, ctx.caller) || ctx.caller.userId === id ? { id } : null));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  LedgerAccount: accounts,
  LedgerTransaction: rowReferences(LedgerTransaction, { readers: TRANSACTION_VIEWERS }),
  Wallet: wallets,
  AccountingPeriod: rowReferences(AccountingPeriod, { readers: CLOSERS }),
  Payment: stubReferences,
  Payout: stubReferences,
  User: users,
};
