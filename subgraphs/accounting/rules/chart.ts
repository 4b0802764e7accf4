import { EntryDirection, LedgerAccountType, WalletKind } from '../entities/enums.js';

/** An account as its code alone describes it. Source: accounting 2, chart. */
export interface ChartAccount {
  code: string;
  name: string;
  type: LedgerAccountType;
  normalSide: EntryDirection;
  /** ISO 4217, upper case. */
  currency: string;
  floor: number | null;
  userId: string | null;
  wallet: WalletKind | null;
}

const { ASSET, LIABILITY, EQUITY, INCOME, EXPENSE } = LedgerAccountType;
const NAME = '[a-z0-9_.-]+';
const USER = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** Pattern of a code without its currency, and the account's type. Of `contra_income` the normal side is that of what it reduces turned round. */
const CHART: readonly (readonly [pattern: string, type: LedgerAccountType, side?: EntryDirection])[] = [
  [`assets:processor:${NAME}`, ASSET],
  ['assets:(?:bank|disputes_receivable)', ASSET],
  ['liabilities:clearing:(?:payments|cash)', LIABILITY],
  [`liabilities:wallet:(?:cash|earnings|credit):${USER}`, LIABILITY],
  [`liabilities:earnings_pending:${USER}`, LIABILITY],
  [`liabilities:tax:${NAME}`, LIABILITY],
  ['liabilities:(?:deferred_revenue|gifts)', LIABILITY],
  ['income:sales:(?:order|subscription|telehealth|other)', INCOME],
  ['income:breakage', INCOME],
  ['expenses:(?:processing_fees|dispute_fees|chargebacks|promotions|commissions)', EXPENSE],
  ['contra_income:refunds', INCOME, EntryDirection.DEBIT],
  ['equity:fx', EQUITY],
];
const PATTERNS = CHART.map(([pattern, type, side]) => ({ pattern: new RegExp(`^${pattern}:[a-z]{3}$`), type, side }));

export const CODE = /^[a-z0-9_.-]+(:[a-z0-9_.-]+)*$/;
export const MAX_CODE = 200;
const OWNED = new RegExp(`^liabilities:(?:wallet:(cash|earnings|credit)|earnings_pending):(${USER}):`);

/** The side on which accounts of a type grow. */
export const normalSideOf = (type: LedgerAccountType): EntryDirection =>
  type === ASSET || type === EXPENSE ? EntryDirection.DEBIT : EntryDirection.CREDIT;

/** The currency that a code ends with, upper case; null for a code that ends otherwise. */
export const currencyOf = (code: string): string | null => /(?:^|:)([a-z]{3})$/.exec(code)?.[1]!.toUpperCase() ?? null;

/** Whose wallet of which kind it is; EARNINGS may go below zero, so it has no floor. */
function ownerOf(code: string): Pick<ChartAccount, 'userId' | 'wallet' | 'floor'> {
  const [, kind, userId] = OWNED.exec(code) ?? [];
  const wallet = (kind as WalletKind | undefined) ?? null;
  return { userId: userId ?? null, wallet, floor: wallet === null || wallet === WalletKind.EARNINGS ? null : 0 };
}

const nameOf = (code: string): string => code.replace(new RegExp(USER), 'user').split(':').slice(0, -1).join(' ').replaceAll('_', ' ');

/** The account of a code that the chart knows; null for any other. */
export function chartAccount(code: string): ChartAccount | null {
  const found = code.length > MAX_CODE ? undefined : PATTERNS.find(({ pattern }) => pattern.test(code));
  if (!found) return null;
  const { type, side } = found;
  return { code, name: nameOf(code), type, normalSide: side ?? normalSideOf(type), currency: currencyOf(code)!, ...ownerOf(code) };
}

export const DEFERRED_REVENUE = 'liabilities:deferred_revenue:';
export const deferredRevenue = (currency: string): string => `${DEFERRED_REVENUE}${currency.toLowerCase()}`;
export const subscriptionIncome = (currency: string): string => `income:sales:subscription:${currency.toLowerCase()}`;
