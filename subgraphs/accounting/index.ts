import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { LedgerAccount } from './entities/account.js';
import { AccountingPeriod } from './entities/period.js';
import { LedgerTransaction } from './entities/transaction.js';
import { Wallet } from './entities/wallet.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { AccountResolver } from './resolvers/account.js';
import { ChainResolver } from './resolvers/chain.js';
import { PaymentLedgerResolver, PayoutLedgerResolver } from './resolvers/payments.js';
import { ReportResolver } from './resolvers/report.js';
import { EntryResolver, TransactionResolver } from './resolvers/transaction.js';
import { UserWalletsResolver, WalletResolver } from './resolvers/wallet.js';
import { Payment, Payout, User } from './stubs.js';
import { timers } from './timers.js';
import { sealer } from './workers/sealer.js';

export default service({
  slug: 'accounting',
  purpose: 'The books: an immutable double-entry ledger with wallets, reports and proofs',
  entities: [LedgerAccount, LedgerTransaction, Wallet, AccountingPeriod],
  resolvers: [
    TransactionResolver,
    EntryResolver,
    AccountResolver,
    WalletResolver,
    UserWalletsResolver,
    PaymentLedgerResolver,
    PayoutLedgerResolver,
    ChainResolver,
    ReportResolver,
  ],
  types: [User, Payment, Payout, AccountingPeriod],
  references,
  consumers,
  timers,
  workers: [sealer],
  erase,
});
