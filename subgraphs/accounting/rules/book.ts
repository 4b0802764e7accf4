import type { EntryDirection, WalletKind } from '../entities/enums.js';
import { LedgerAccountStatus, LedgerTransactionKind } from '../entities/enums.js';
import { CREDIT, DEBIT, type EntryDraft } from './entries.js';

/** An account as it stands while a batch is judged. */
export interface AccountState {
  id: string;
  code: string;
  normalSide: EntryDirection;
  currency: string;
  status: LedgerAccountStatus;
  floor: number | null;
  postedDebits: number;
  postedCredits: number;
  pendingDebits: number;
  pendingCredits: number;
  entryCount: number;
  eventCount: number;
  wallet: { id: string; kind: WalletKind; userId: string } | null;
}

/** What a transaction does to the books. */
export interface Movement {
  kind: LedgerTransactionKind;
  entries: readonly EntryDraft[];
  /** Entries of the pending transaction that is resolved: what it reserved is released. */
  reserved?: readonly EntryDraft[] | undefined;
  /** A fact that has happened elsewhere: no floor can undo it. */
  isFact: boolean;
}

export interface Refusal {
  reason: 'insufficient_funds' | 'account_frozen' | 'account_closed' | 'balance_too_large';
  detail: string;
  line: number;
}

/** An entry's place in its account: a pending one has none. */
export interface BookedEntry extends EntryDraft {
  accountId: string;
  balanceAfter: number;
  accountVersion: number | null;
}

export function balanceOf({ normalSide, postedDebits, postedCredits }: AccountState): number {
  return normalSide === CREDIT ? postedCredits - postedDebits : postedDebits - postedCredits;
}

/** The balance less what is pending on the other side; what is pending on its own side does not count yet. */
export const availableOf = (account: AccountState): number =>
  balanceOf(account) - (account.normalSide === CREDIT ? account.pendingDebits : account.pendingCredits);

const { PENDING, VOID_PENDING, REVERSAL } = LedgerTransactionKind;
const isPosted = (kind: LedgerTransactionKind): boolean => kind !== PENDING && kind !== VOID_PENDING;

const add = (account: AccountState, state: 'posted' | 'pending', direction: EntryDirection, amount: number): void => {
  if (state === 'posted') account[direction === DEBIT ? 'postedDebits' : 'postedCredits'] += amount;
  else account[direction === DEBIT ? 'pendingDebits' : 'pendingCredits'] += amount;
};

const isSafe = ({ postedDebits, postedCredits, pendingDebits, pendingCredits }: AccountState): boolean =>
  [postedDebits, postedCredits, pendingDebits, pendingCredits].every(Number.isSafeInteger);

/** Whether an account takes part: a frozen one in reversals and releases only. */
function closedTo({ kind }: Movement, { status, code }: AccountState, line: number): Refusal | null {
  if (status === LedgerAccountStatus.CLOSED) return { reason: 'account_closed', detail: `The account ${code} is closed`, line };
  const isFrozen = status === LedgerAccountStatus.FROZEN && kind !== REVERSAL && kind !== VOID_PENDING;
  return isFrozen ? { reason: 'account_frozen', detail: `The account ${code} is frozen`, line } : null;
}

/**
 * The accounts of a batch, judged and changed in memory under their locks. A movement is judged by its net effect on each account.
 * Source: accounting 7.2, Performance.
 */
export class Book {
  readonly #before = new Map<string, AccountState>();

  constructor(readonly accounts: ReadonlyMap<string, AccountState>) {}

  /** By code. @throws Error for one that the batch did not lock. */
  account(code: string): AccountState {
    const found = this.accounts.get(code);
    if (!found) throw new Error('an entry names an account that the batch did not lock');
    return found;
  }

  /** Books a movement, or says why not and leaves everything as it was. */
  book(movement: Movement): { entries: BookedEntry[]; refusal: null } | { entries: null; refusal: Refusal } {
    const touched = new Set([...movement.entries, ...(movement.reserved ?? [])].map(one => this.account(one.accountCode)));
    const before = new Map([...touched].map(account => [account, { ...account }]));
    const entries = this.#apply(movement);
    const refusal = this.#judge(movement, before);
    if (!refusal) {
      for (const [account, state] of before) if (!this.#before.has(account.code)) this.#before.set(account.code, state);
      return { entries, refusal };
    }
    for (const [account, state] of before) Object.assign(account, state);
    return { entries: null, refusal };
  }

  #apply({ kind, entries, reserved }: Movement): BookedEntry[] {
    const released = kind === VOID_PENDING ? entries : (reserved ?? []);
    for (const { accountCode, direction, amount } of released) add(this.account(accountCode), 'pending', direction, -amount);
    return entries.map(entry => {
      const account = this.account(entry.accountCode);
      if (kind !== VOID_PENDING) add(account, isPosted(kind) ? 'posted' : 'pending', entry.direction, entry.amount);
      const accountVersion = isPosted(kind) ? ++account.entryCount : null;
      return { ...entry, accountId: account.id, balanceAfter: balanceOf(account), accountVersion };
    });
  }

  #judge(movement: Movement, before: ReadonlyMap<AccountState, AccountState>): Refusal | null {
    for (const [line, entry] of movement.entries.entries()) {
      const account = this.account(entry.accountCode);
      const refusal = closedTo(movement, account, line) ?? this.#lacking(movement, entry, account, before.get(account)!, line);
      if (refusal) return refusal;
    }
    return null;
  }

  #lacking(movement: Movement, entry: EntryDraft, account: AccountState, before: AccountState, line: number): Refusal | null {
    if (!isSafe(account)) return { reason: 'balance_too_large', detail: `The totals of ${account.code} would pass 2^53 - 1`, line };
    const available = availableOf(account);
    const guard = entry.minAvailable ?? null;
    const belowFloor = account.floor !== null && available < account.floor && available < availableOf(before) && !movement.isFact;
    if (!belowFloor && (guard === null || available >= guard)) return null;
    return { reason: 'insufficient_funds', detail: `The account ${account.code} has not enough available`, line };
  }

  /** Remembers the accounts as they are, for work that is done whole or not at all. */
  checkpoint(): () => void {
    const states = [...this.accounts.values()].map(account => [account, { ...account }] as const);
    const touched = new Set(this.#before.keys());
    return () => {
      for (const [account, state] of states) Object.assign(account, state);
      for (const code of this.#before.keys()) if (!touched.has(code)) this.#before.delete(code);
    };
  }

  /** Every account that was changed, as it was before the batch and as it is. */
  changes(): { before: AccountState; after: AccountState }[] {
    return [...this.#before].map(([code, before]) => ({ before, after: this.account(code) }));
  }
}
