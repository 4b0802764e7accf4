import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Money } from '../../../runtime/schema/scalars.js';
import { LedgerAccount } from '../entities/account.js';
import { LedgerAccountType } from '../entities/enums.js';
import type {
  BalanceSheet,
  BalanceSheetSection,
  IncomeStatement,
  IncomeStatementSection,
  LedgerReportLine,
  LedgerReportRow,
  TrialBalance,
  TrialBalanceLine,
} from '../entities/report.js';
import { lastBlock } from './chain.js';

const { ASSET, LIABILITY, EQUITY, INCOME, EXPENSE } = LedgerAccountType;

interface NetRow {
  id: string;
  code: string;
  name: string;
  type: LedgerAccountType;
  currency: string;
  /** Debits less credits; may pass 2^53. */
  net: string;
}

/** Net of every account over a time, from entries and not from the cached totals. */
const NETS = `
select a.id, a.code, a.name, a.type, a.currency, n.net::text from (
  select e.account_id, sum(case e.direction when 'debit' then e.amount else - e.amount end) as net
  from accounting.ledger_entry e
  where e.posted and ($1::timestamptz is null or e.effective_at >= $1) and e.effective_at < $2 and ($3::text is null or e.currency = $3)
  group by e.account_id) n
join accounting.ledger_account a on a.id = n.account_id where n.net <> 0 order by a.code`;

const nets = (ctx: Context, from: Date | null, before: Date, currency: string | null): Promise<NetRow[]> =>
  ctx.sql<NetRow>(NETS, [from?.toISOString() ?? null, before.toISOString(), currency]);

/** @throws Problem conflict where a sum cannot be shown as a number. */
function money(amount: bigint, currency: string): Money {
  const shown = Number(amount);
  if (!Number.isSafeInteger(shown)) fail('conflict', 'A total passes 2^53 - 1', { reason: 'total_too_large' });
  return { amount: shown, currency };
}

const sum = (rows: readonly NetRow[], sign: 1n | -1n): bigint => rows.reduce((total, row) => total + sign * BigInt(row.net), 0n);

/** Entries up to and including an instant: all have whole milliseconds. */
const justAfter = (at: Date): Date => new Date(at.getTime() + 1);

function requirePast(ctx: Context, at: Date, pointer: string): void {
  if (at > ctx.now()) invalid(pointer, 'must not be in the future');
}

async function linesOf(ctx: Context, rows: readonly NetRow[]): Promise<TrialBalanceLine[]> {
  const accounts = await ctx.em.find(LedgerAccount, { id: { $in: rows.map(row => row.id) } });
  const byId = new Map(accounts.map(account => [account.id, account]));
  return rows.map(({ id, currency, net }) => {
    const amount = BigInt(net);
    const [debit, credit] = amount > 0n ? [amount, 0n] : [0n, -amount];
    return { account: byId.get(id)!, debit: money(debit, currency), credit: money(credit, currency) };
  });
}

/** All accounts of a currency with their nets at an instant. */
export async function trialBalance(ctx: Context, asOf: Date | null, currency: string): Promise<TrialBalance> {
  const at = asOf ?? ctx.now();
  requirePast(ctx, at, '/asOf');
  const block = await lastBlock(ctx);
  const rows = await nets(ctx, null, justAfter(at), currency);
  const totalDebits = sum(
    rows.filter(row => BigInt(row.net) > 0n),
    1n,
  );
  const totalCredits = sum(
    rows.filter(row => BigInt(row.net) < 0n),
    -1n,
  );
  return {
    asOf: at,
    currency,
    lines: await linesOf(ctx, rows),
    totalDebits: money(totalDebits, currency),
    totalCredits: money(totalCredits, currency),
    balanced: totalDebits === totalCredits,
    sequence: block?.toSequence ?? null,
  };
}

/** Lines of some types; a positive amount is on the side on which the type grows. */
function reportLines(rows: readonly NetRow[], type: LedgerAccountType): LedgerReportLine[] {
  const sign = type === ASSET || type === EXPENSE ? 1n : -1n;
  return rows
    .filter(row => row.type === type)
    .map(({ code, name, net, currency }) => ({ code, name, amount: money(sign * BigInt(net), currency) }));
}

const byCurrency = (rows: readonly NetRow[]): [string, NetRow[]][] =>
  [...Map.groupBy(rows, row => row.currency)].sort(([a], [b]) => (a < b ? -1 : 1));

const of = (rows: readonly NetRow[], ...types: LedgerAccountType[]): NetRow[] => rows.filter(row => types.includes(row.type));

const incomeSection = ([currency, rows]: [string, NetRow[]]): IncomeStatementSection => ({
  currency,
  income: reportLines(rows, INCOME),
  expenses: reportLines(rows, EXPENSE),
  totalIncome: money(sum(of(rows, INCOME), -1n), currency),
  totalExpenses: money(sum(of(rows, EXPENSE), 1n), currency),
  netIncome: money(sum(of(rows, INCOME, EXPENSE), -1n), currency),
});

const rowsOf = (section: string, lines: readonly LedgerReportLine[]): LedgerReportRow[] =>
  lines.map(({ code, name, amount }) => ({ section, code, name, ...amount }));

/** Income and expenses that were effective in a time. */
export async function incomeStatement(ctx: Context, from: Date, to: Date): Promise<IncomeStatement> {
  const rows = of(await nets(ctx, from, to, null), INCOME, EXPENSE);
  const sections = byCurrency(rows).map(incomeSection);
  return { from, to, sections, rows: sections.flatMap(one => [...rowsOf('income', one.income), ...rowsOf('expenses', one.expenses)]) };
}

const sheetSection = ([currency, rows]: [string, NetRow[]]): BalanceSheetSection => ({
  currency,
  assets: reportLines(rows, ASSET),
  liabilities: reportLines(rows, LIABILITY),
  equity: reportLines(rows, EQUITY),
  retainedEarnings: money(sum(of(rows, INCOME, EXPENSE), -1n), currency),
  totalAssets: money(sum(of(rows, ASSET), 1n), currency),
  totalLiabilitiesAndEquity: money(sum(of(rows, LIABILITY, EQUITY, INCOME, EXPENSE), -1n), currency),
});

const sheetRows = ({ assets, liabilities, equity, retainedEarnings }: BalanceSheetSection): LedgerReportRow[] => [
  ...rowsOf('assets', assets),
  ...rowsOf('liabilities', liabilities),
  ...rowsOf('equity', [...equity, { code: 'retained_earnings', name: 'retained earnings', amount: retainedEarnings }]),
];

/** What there is and what is owed at an instant. */
export async function balanceSheet(ctx: Context, asOf: Date | null): Promise<BalanceSheet> {
  const at = asOf ?? ctx.now();
  requirePast(ctx, at, '/asOf');
  const sections = byCurrency(await nets(ctx, null, justAfter(at), null)).map(sheetSection);
  return { asOf: at, sections, rows: sections.flatMap(sheetRows) };
}

/** Whether each currency balances at an instant. */
export async function isBalanced(ctx: Context, before: Date): Promise<boolean> {
  const rows = await nets(ctx, null, before, null);
  return byCurrency(rows).every(([, own]) => sum(own, 1n) === 0n);
}
