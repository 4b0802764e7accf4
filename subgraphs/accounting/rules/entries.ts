import type { Violation } from '../../../runtime/request/errors.js';
import { EntryDirection } from '../entities/enums.js';
import { DEFERRED_REVENUE, currencyOf } from './chart.js';

/** Opens a schedule of the credited amount; without a period it waits for one. */
export interface Recognition {
  key: string;
  from: Date | null;
  to: Date | null;
  userId?: string | null;
  subscriptionId?: string | null;
}

/** One side of a transaction before it is booked. Amounts in minor units. */
export interface EntryDraft {
  accountCode: string;
  direction: EntryDirection;
  amount: number;
  currency: string;
  /** The least that must be available on the account afterwards. */
  minAvailable?: number | null;
  recognition?: Recognition | null;
  recognitionCut?: { key: string; amount: number } | null;
  /** What connects the entries of one flow through an account. */
  flowId?: string | null;
}

export const MIN_ENTRIES = 2;
export const MAX_ENTRIES = 64;

export const { DEBIT, CREDIT } = EntryDirection;
export const opposite = (direction: EntryDirection): EntryDirection => (direction === DEBIT ? CREDIT : DEBIT);

/** Σ debits and Σ credits by currency; BigInt, because sums pass 2^53. */
export function sums(entries: readonly EntryDraft[]): Map<string, { debit: bigint; credit: bigint }> {
  const found = new Map<string, { debit: bigint; credit: bigint }>();
  for (const { direction, amount, currency } of entries) {
    const sum = found.get(currency) ?? { debit: 0n, credit: 0n };
    sum[direction] += BigInt(amount);
    found.set(currency, sum);
  }
  return found;
}

function amountViolations({ amount, currency, accountCode }: EntryDraft): [string, string][] {
  const own = currencyOf(accountCode);
  return [
    ...(Number.isSafeInteger(amount) && amount >= 1
      ? []
      : [['/amount/amount', 'must be a whole number from 1 to 9007199254740991'] as [string, string]]),
    ...(own === currency ? [] : [['/amount/currency', 'must be the currency of the account'] as [string, string]]),
  ];
}

function recognitionViolations({ accountCode, direction, amount, recognition, recognitionCut }: EntryDraft): [string, string][] {
  const isDeferred = accountCode.startsWith(DEFERRED_REVENUE);
  const found: [string, string][] = [];
  if (recognition && !(isDeferred && direction === CREDIT)) found.push(['/recognition', 'is for credits of deferred revenue']);
  if (recognition?.from && recognition.to && recognition.to <= recognition.from)
    found.push(['/recognition/to', 'must be after the beginning']);
  if (recognitionCut && !(isDeferred && direction === DEBIT)) found.push(['/recognitionCut', 'is for debits of deferred revenue']);
  if (recognitionCut && recognitionCut.amount > amount) found.push(['/recognitionCut/amount', 'must not be more than the entry']);
  return found;
}

function balanceViolations(entries: readonly EntryDraft[], pointer: string): Violation[] {
  return [...sums(entries)]
    .filter(([, { debit, credit }]) => debit !== credit)
    .map(([currency]) => ({ pointer, message: `must balance: debits and credits of ${currency} differ` }));
}

const FX = /^equity:fx:/;

/** Two currencies meet through `equity:fx` only, and say at which rate. Source: accounting 7.10. */
function currencyViolations(entries: readonly EntryDraft[], metadata: Readonly<Record<string, unknown>>, pointer: string): Violation[] {
  const currencies = new Set(entries.map(one => one.currency));
  if (currencies.size < 2) return [];
  const paired = [...currencies].filter(currency => entries.some(one => one.currency === currency && FX.test(one.accountCode)));
  const rate = typeof metadata.rate === 'string' && /^\d{1,12}(\.\d{1,12})?$/.test(metadata.rate);
  return [
    ...(paired.length === currencies.size ? [] : [{ pointer, message: 'entries of two currencies need a pair of equity:fx' }]),
    ...(rate
      ? []
      : [{ pointer: pointer.replace(/entries$/, 'metadata/rate'), message: 'must be a decimal string where currencies differ' }]),
  ];
}

/** Everything that is wrong with the entries of a transaction, whatever the books hold. `pointer` leads to the list. */
export function entryViolations(
  entries: readonly EntryDraft[],
  metadata: Readonly<Record<string, unknown>>,
  isKnown: (code: string) => boolean,
  pointer: string,
): Violation[] {
  if (entries.length < MIN_ENTRIES || entries.length > MAX_ENTRIES)
    return [{ pointer, message: `must have ${MIN_ENTRIES} to ${MAX_ENTRIES} items` }];
  const single = entries.flatMap((entry, line) => {
    const unknown: [string, string][] = isKnown(entry.accountCode) ? [] : [['/accountCode', 'is no account, and none of the chart']];
    const found = unknown.length ? unknown : [...amountViolations(entry), ...recognitionViolations(entry)];
    return found.map(([at, message]) => ({ pointer: `${pointer}/${line}${at}`, message }));
  });
  if (single.length > 0) return single;
  return [...balanceViolations(entries, pointer), ...currencyViolations(entries, metadata, pointer)];
}

/** What undoes entries. */
export const mirrored = (entries: readonly EntryDraft[]): EntryDraft[] =>
  entries.map(({ accountCode, direction, amount, currency, flowId }) => ({
    accountCode,
    direction: opposite(direction),
    amount,
    currency,
    flowId: flowId ?? null,
  }));

/** What reverses entries: a schedule that they opened or cut gets its amount back as well. */
export const reversed = (entries: readonly EntryDraft[]): EntryDraft[] =>
  mirrored(entries).map(entry => {
    if (!entry.flowId || !entry.accountCode.startsWith(DEFERRED_REVENUE)) return entry;
    const { flowId: key, amount } = entry;
    return entry.direction === CREDIT
      ? { ...entry, recognition: { key, from: null, to: null } }
      : { ...entry, recognitionCut: { key, amount } };
  });

/** Splits `total` in proportion to whole parts; remainders go to the largest fractions, so that the shares sum to it. */
export function allocate(total: number, parts: readonly number[]): number[] {
  const whole = parts.reduce((sum, part) => sum + BigInt(part), 0n);
  const exact = parts.map(part => BigInt(part) * BigInt(total));
  const shares = exact.map(product => product / whole);
  let left = BigInt(total) - shares.reduce((sum, share) => sum + share, 0n);
  const byFraction = exact
    .map((product, at) => ({ at, rest: product % whole }))
    .sort((a, b) => (a.rest === b.rest ? a.at - b.at : a.rest > b.rest ? -1 : 1));
  for (const { at } of byFraction) {
    if (left === 0n) break;
    shares[at]! += 1n;
    left -= 1n;
  }
  return shares.map(Number);
}

/** The entries of a pending transaction, for a part of its amount; lines that get nothing are left out. */
export function partOf(entries: readonly EntryDraft[], amount: number): EntryDraft[] {
  const side = (direction: EntryDirection): EntryDraft[] => {
    const own = entries.filter(one => one.direction === direction);
    const shares = allocate(
      amount,
      own.map(one => one.amount),
    );
    return own.map((one, at) => ({ ...one, amount: shares[at]! }));
  };
  return [...side(DEBIT), ...side(CREDIT)].filter(one => one.amount > 0);
}

/** Σ debits of a transaction in one currency. */
export const debitsOf = (entries: readonly EntryDraft[]): number =>
  entries.reduce((sum, one) => sum + (one.direction === DEBIT ? one.amount : 0), 0);
