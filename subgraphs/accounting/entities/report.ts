import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { CurrencyCode, DateTime, JSONObject, Money, SafeInt } from '../../../runtime/schema/scalars.js';
import { LedgerAccount } from './account.js';
import { REPAIRERS, REPORTERS, ACCOUNT_READERS } from './access.js';
import { EntryDirection } from './enums.js';
import { LedgerSource } from './transaction.js';

@Access(REPORTERS)
@ObjectType({ description: 'Net balance of an account on one side.' })
export class TrialBalanceLine {
  @Field(() => LedgerAccount)
  account: LedgerAccount;

  @Field(() => Money)
  debit: Money;

  @Field(() => Money)
  credit: Money;
}

@Access(REPORTERS)
@ObjectType({ description: 'All accounts of a currency, from their entries.' })
export class TrialBalance {
  @Field(() => DateTime)
  asOf: Date;

  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => [TrialBalanceLine], { description: 'By code, without those at zero.' })
  lines: TrialBalanceLine[];

  @Field(() => Money)
  totalDebits: Money;

  @Field(() => Money)
  totalCredits: Money;

  @Field(() => Boolean)
  balanced: boolean;

  @Field(() => SafeInt, { nullable: true, description: 'The last sealed transaction when it was made.' })
  sequence: number | null;
}

@Access(REPORTERS)
@ObjectType({ description: 'An account in a report, on the side that the report counts it.' })
export class LedgerReportLine {
  @Field(() => String)
  code: string;

  @Field(() => String)
  name: string;

  @Field(() => Money)
  amount: Money;
}

@Access(REPORTERS)
@ObjectType({ description: 'A report as plain rows, also as CSV.' })
export class LedgerReportRow {
  @Field(() => String, { description: 'income, expenses, assets, liabilities or equity.' })
  section: string;

  @Field(() => String)
  code: string;

  @Field(() => String)
  name: string;

  @Field(() => SafeInt, { description: 'Minor units.' })
  amount: number;

  @Field(() => CurrencyCode)
  currency: string;
}

@Access(REPORTERS)
@ObjectType({ description: 'Income and expenses of one currency.' })
export class IncomeStatementSection {
  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => [LedgerReportLine], { description: 'By code; what reduces income is negative.' })
  income: LedgerReportLine[];

  @Field(() => [LedgerReportLine])
  expenses: LedgerReportLine[];

  @Field(() => Money)
  totalIncome: Money;

  @Field(() => Money)
  totalExpenses: Money;

  @Field(() => Money)
  netIncome: Money;
}

@Access(REPORTERS)
@ObjectType({ description: 'What a time has brought and cost.' })
export class IncomeStatement {
  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime, { description: 'The first instant after it.' })
  to: Date;

  @Field(() => [LedgerReportRow])
  rows: LedgerReportRow[];

  @Field(() => [IncomeStatementSection])
  sections: IncomeStatementSection[];
}

@Access(REPORTERS)
@ObjectType({ description: 'What one currency has and owes.' })
export class BalanceSheetSection {
  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => [LedgerReportLine])
  assets: LedgerReportLine[];

  @Field(() => [LedgerReportLine])
  liabilities: LedgerReportLine[];

  @Field(() => [LedgerReportLine])
  equity: LedgerReportLine[];

  @Field(() => Money, { description: 'All income less all expenses so far.' })
  retainedEarnings: Money;

  @Field(() => Money)
  totalAssets: Money;

  @Field(() => Money, { description: 'Of liabilities, equity and retained earnings.' })
  totalLiabilitiesAndEquity: Money;
}

@Access(REPORTERS)
@ObjectType({ description: 'Assets beside what they were paid with.' })
export class BalanceSheet {
  @Field(() => DateTime)
  asOf: Date;

  @Field(() => [LedgerReportRow], { description: 'With the retained earnings as a row of equity.' })
  rows: LedgerReportRow[];

  @Field(() => [BalanceSheetSection])
  sections: BalanceSheetSection[];
}

@Access(REPORTERS)
@ObjectType({ description: 'A source of what an account still holds.' })
export class BalanceExplanationLine {
  @Field(() => ID)
  transactionId: string;

  @Field(() => LedgerSource)
  source: LedgerSource;

  @Field(() => DateTime)
  effectiveAt: Date;

  @Field(() => Money, { description: 'Its part of the balance.' })
  amount: Money;
}

@Access(REPORTERS)
@ObjectType({ description: 'The newest sources that make up a balance, what they were used for taken from the oldest.' })
export class BalanceExplanation {
  @Field(() => LedgerAccount)
  account: LedgerAccount;

  @Field(() => DateTime)
  at: Date;

  @Field(() => Money)
  balance: Money;

  @Field(() => [BalanceExplanationLine], { description: 'Newest first; their amounts are the balance.' })
  sources: BalanceExplanationLine[];
}

@Access(REPORTERS)
@ObjectType({ description: 'A flow through a clearing account that is not back at zero after 24 hours.' })
export class ClearingException {
  @Field(() => LedgerAccount)
  account: LedgerAccount;

  @Field(() => String, { description: 'The payment, obligation or refund that it belongs to.' })
  flowId: string;

  @Field(() => Money, { description: 'What is left, on the normal side of the account.' })
  amount: Money;

  @Field(() => DateTime)
  since: Date;

  @Field(() => [ID])
  transactionIds: string[];
}

@Access(REPAIRERS)
@ObjectType({ description: 'An account whose cached balance is not the sum of its entries.' })
export class DriftedBalance {
  @Field(() => ID)
  accountId: string;

  @Field(() => Money)
  cached: Money;

  @Field(() => Money)
  computed: Money;
}

@Access(REPAIRERS)
@ObjectType({ description: 'A comparison of all cached balances with their entries.' })
export class BalanceRebuild {
  @Field(() => Int)
  checked: number;

  @Field(() => [DriftedBalance])
  drifted: DriftedBalance[];
}

@Access(ACCOUNT_READERS)
@ObjectType({ description: 'A balance at an instant.' })
export class LedgerBalance {
  @Field(() => ID)
  accountId: string;

  @Field(() => DateTime)
  at: Date;

  @Field(() => Money)
  balance: Money;
}

@ObjectType({ description: 'How events of one type are booked.' })
export class PostingRuleView {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  eventType: string;

  @Field(() => Int)
  version: number;

  @Field(() => JSONObject)
  definition: unknown;

  @Field(() => DateTime)
  createdAt: Date;
}

@ObjectType({ description: 'An entry that would be made.' })
export class PostingPreviewEntry {
  @Field(() => String)
  accountCode: string;

  @Field(() => EntryDirection)
  direction: EntryDirection;

  @Field(() => Money)
  amount: Money;
}

@ObjectType({ description: 'What an event would book, if nothing of its flow was booked before.' })
export class PostingPreview {
  @Field(() => String)
  eventType: string;

  @Field(() => Int, { nullable: true })
  ruleVersion: number | null;

  @Field(() => LedgerSource, { nullable: true, description: 'Null: it books nothing.' })
  source: LedgerSource | null;

  @Field(() => [PostingPreviewEntry])
  entries: PostingPreviewEntry[];
}
