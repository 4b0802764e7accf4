import { get, patch, post, type Route, type RouteTable } from '../route.js';

const MONEY = '{ amount currency }';
const ACCOUNT = `id code name type normalSide currency status floor postedDebits postedCredits pendingDebits pendingCredits balance ${MONEY}
  available ${MONEY} user { id } createdAt`;
const ENTRY = `id transactionId line account { id code } direction amount ${MONEY} balanceAfter ${MONEY} effectiveAt`;
const TRANSACTION = `id kind status entries { ${ENTRY} } description source { service type id ruleVersion } effectiveAt postedAt expiresAt
  pendingOf { id } resolvedBy { id } reverses { id } reversedBy { id } user { id } contentHash sequence blockHeight metadata`;
const WALLET = `id user { id } kind currency account { id code } balance ${MONEY} available ${MONEY} pending ${MONEY}`;

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';
const payout = {
  source: { service: 'payments', type: 'payout', id: '0192f0d0-0000-7000-8000-000000000001' },
  description: 'earnings payout',
  user_id: aUser,
  entries: [
    { account_code: 'equity:fx:usd', direction: 'debit', amount: { amount: 12500, currency: 'USD' } },
    { account_code: 'assets:bank:usd', direction: 'credit', amount: { amount: 12500, currency: 'USD' } },
  ],
};
const refusals = { 409: 'Not enough available, an account frozen, or the period closed' };

const transactions: Route[] = [
  post('/v1/transactions', 'postLedgerTransaction', TRANSACTION, 'Book a fact, once', {
    status: [201, 200],
    problems: { ...refusals, 422: 'The same source was posted with another content' },
    example: { request: payout },
  }),
  post(
    '/v1/transactions/batch',
    'postLedgerTransactions',
    'index result transactionId code detail',
    'Book many facts, all or none, or each on its own',
    { example: { request: { transactions: [payout], atomic: true } } },
  ),
  get('/v1/transactions', 'ledgerTransactions', TRANSACTION, 'List transactions'),
  get('/v1/transactions/{id}', 'ledgerTransaction', TRANSACTION, 'Read a transaction'),
  post('/v1/transactions/{id}/reverse', 'reverseLedgerTransaction', TRANSACTION, 'Book the opposite of a transaction', {
    status: 201,
    problems: { 409: 'It is reversed already, a reversal itself, or not posted' },
    example: { request: { reason: 'Booked twice' } },
  }),
  post('/v1/transactions/{id}/post', 'resolvePendingLedgerTransaction', TRANSACTION, 'Post a pending transaction', {
    as: 'postPendingLedgerTransaction',
    status: 201,
    constant: { action: 'POST' },
    problems: { 409: 'It is resolved already, or has expired' },
    example: { request: { amount: { amount: 500, currency: 'USD' } } },
  }),
  post('/v1/transactions/{id}/void', 'resolvePendingLedgerTransaction', TRANSACTION, 'Release a pending transaction', {
    as: 'voidPendingLedgerTransaction',
    status: 201,
    constant: { action: 'VOID' },
    omit: ['amount'],
    problems: { 409: 'It is resolved already, or has expired' },
  }),
];

const accounts: Route[] = [
  get('/v1/accounts', 'ledgerAccounts', ACCOUNT, 'List accounts'),
  post('/v1/accounts', 'openLedgerAccount', ACCOUNT, 'Open an account', {
    status: 201,
    problems: { 409: 'The code is taken' },
    example: { request: { code: 'assets:bank:eur', name: 'Bank', type: 'asset' } },
  }),
  get('/v1/accounts/{id}', 'ledgerAccount', ACCOUNT, 'Read an account'),
  patch('/v1/accounts/{id}', 'updateLedgerAccount', ACCOUNT, 'Change an account', {
    problems: { 409: 'It is closed, not empty, or has less available than the floor' },
    example: { request: { name: 'Main bank' } },
  }),
  get('/v1/accounts/{id}/entries', 'ledgerAccount.entries', ENTRY, 'List the entries of an account'),
  get('/v1/accounts/{id}/balance', 'ledgerAccount.balanceReport', `accountId at balance ${MONEY}`, 'Read a balance at an instant', {
    as: 'ledgerAccountBalance',
  }),
];

const wallets: Route[] = [
  get('/v1/wallets/me', 'myWallets', WALLET, 'List the own wallets'),
  get('/v1/wallets', 'wallets', WALLET, "List a user's wallets"),
  get('/v1/wallets/{id}/entries', 'wallet.entries', ENTRY, 'List the entries of a wallet'),
];

const LINE = `code name amount ${MONEY}`;
const ROWS = 'rows { section code name amount currency }';
const INCOME_STATEMENT = `from to ${ROWS} sections { currency income { ${LINE} } expenses { ${LINE} } totalIncome ${MONEY} totalExpenses ${MONEY}
  netIncome ${MONEY} }`;
const BALANCE_SHEET = `asOf ${ROWS} sections { currency assets { ${LINE} } liabilities { ${LINE} } equity { ${LINE} } retainedEarnings ${MONEY}
  totalAssets ${MONEY} totalLiabilitiesAndEquity ${MONEY} }`;
const TRIAL_BALANCE = `asOf currency lines { account { id code name } debit ${MONEY} credit ${MONEY} } totalDebits ${MONEY} totalCredits ${MONEY}
  balanced sequence`;
const EXPLANATION = `account { id code } at balance ${MONEY} sources { transactionId source { service type id ruleVersion } effectiveAt amount ${MONEY} }`;
const PERIOD = 'id name startsAt endsAt status closedAt closedBy';

const reports: Route[] = [
  get('/v1/reports/trial-balance', 'trialBalance', TRIAL_BALANCE, 'Read the trial balance'),
  get('/v1/reports/income-statement', 'incomeStatement', INCOME_STATEMENT, 'Read the income statement', { csv: 'rows' }),
  get('/v1/reports/balance-sheet', 'balanceSheet', BALANCE_SHEET, 'Read the balance sheet', { csv: 'rows' }),
  get(
    '/v1/reports/clearing-exceptions',
    'clearingExceptions',
    `account { id code } flowId amount ${MONEY} since transactionIds`,
    'List flows that do not clear',
  ),
  get('/v1/accounts/{id}/explain', 'explainBalance', EXPLANATION, 'Explain a balance', { path: { id: 'accountId' } }),
  get('/v1/periods', 'accountingPeriods', PERIOD, 'List periods'),
  post('/v1/periods/{id}/close', 'closeAccountingPeriod', PERIOD, 'Close a period', {
    problems: { 409: 'It is closed or not over, the one before it is open, or the books are not balanced or sealed' },
  }),
];

const BLOCK = 'height fromSequence toSequence merkleRoot previousHash hash sealedAt';
const HEAD = 'height hash sealedAt keyId signature';

const chain: Route[] = [
  get('/v1/chain/head', 'ledgerChainHead', BLOCK, 'Read the last block'),
  get(
    '/v1/chain/verify',
    'verifyLedgerChain',
    `ok blocksChecked transactionsChecked headsChecked firstBadSequence reason head { ${BLOCK} }`,
    'Compare the rows with the chain',
  ),
  get('/v1/chain/heads', 'ledgerChainHeads', HEAD, 'List signed heads'),
  get('/v1/chain/keys', 'ledgerChainKeys', 'keyId publicKey validFrom validTo', 'List public keys'),
  get(
    '/v1/transactions/{id}/proof',
    'ledgerInclusionProof',
    `transactionId contentHash canonical path { side hash } block { ${BLOCK} } chain { ${BLOCK} } head { ${HEAD} }`,
    'Read the receipt of a transaction',
  ),
];

const administration: Route[] = [
  get('/v1/admin/posting-rules', 'postingRules', 'id eventType version definition createdAt', 'List posting rules'),
  post(
    '/v1/admin/posting-rules/preview',
    'previewPosting',
    `eventType ruleVersion source { service type id ruleVersion } entries { accountCode direction amount ${MONEY} }`,
    'Show what an event would book',
    {
      example: {
        request: {
          event_type: 'cash.spent.v1',
          user_id: aUser,
          data: {
            spend_id: aUser,
            amount: 1500,
            currency: 'USD',
            reference_type: 'order',
            reference_id: aUser,
            lots: [],
            balance: 0,
          },
        },
      },
    },
  ),
  post(
    '/v1/admin/rebuild-balances',
    'rebuildBalances',
    `checked drifted { accountId cached ${MONEY} computed ${MONEY} }`,
    'Compare balances with entries',
    {
      example: { request: { dry_run: true } },
    },
  ),
  post('/v1/admin/test-clock', 'setAccountingClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the accounting service. Source: contracts/accounting.md, section 4. */
const table: RouteTable = {
  service: 'accounting',
  routes: [...transactions, ...accounts, ...wallets, ...reports, ...chain, ...administration],
};
export default table;
