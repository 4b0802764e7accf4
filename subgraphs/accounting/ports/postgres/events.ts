import { balanceChanged, transactionPosted, transactionReversed } from '../../../../events/catalogue/accounting.js';
import type { DataOf, EventDefinition } from '../../../../events/define.js';
import { prepareEvent, type About } from '../../../../events/outbox.js';
import type { Context } from '../../../../runtime/request/context.js';
import { LedgerTransactionKind } from '../../entities/enums.js';
import { availableOf, balanceOf, type AccountState, type BookedEntry } from '../../rules/book.js';
import { sums } from '../../rules/entries.js';
import type { Origin } from '../ledger-engine.js';
import type { Booked } from './rows.js';

const { DIRECT, POST_PENDING, REVERSAL } = LedgerTransactionKind;

function emit<E extends EventDefinition>(ctx: Context, origin: Origin, event: E, data: DataOf<E>, about: About): void {
  const { requestId, causationId, actor, traceparent } = origin;
  ctx.events.push(prepareEvent(event, data, about, { source: 'accounting', requestId, causationId, actor, traceparent }));
}

const amountsOf = (entries: readonly BookedEntry[]) =>
  [...sums(entries)].map(([currency, { debit }]) => ({ amount: Number(debit), currency }));

const walletsOf = (entries: readonly BookedEntry[], accounts: ReadonlyMap<string, AccountState>) => [
  ...new Map(entries.flatMap(one => accounts.get(one.accountCode)?.wallet ?? []).map(wallet => [wallet.id, wallet])).values(),
];

function tellTransaction(ctx: Context, one: Booked, accounts: ReadonlyMap<string, AccountState>): void {
  const { id, posting, entries, effectiveAt } = one;
  const wallets = walletsOf(entries, accounts);
  const about = { userId: posting.userId ?? wallets[0]?.userId ?? null };
  const amounts = amountsOf(entries);
  if (posting.kind === DIRECT || posting.kind === POST_PENDING) {
    const source = posting.resolves?.source ?? posting.source; // of a pending transaction its own fact
    const named = { source_service: source.service, source_type: source.type, source_id: source.id };
    const rest = { amounts, effective_at: effectiveAt.toISOString(), wallet_ids: wallets.map(wallet => wallet.id) };
    emit(ctx, posting.origin, transactionPosted, { transaction_id: id, ...named, ...rest }, about);
  }
  if (posting.kind === REVERSAL) {
    const { id: original, source, reasonCode } = posting.reverses!;
    const named = { transaction_id: original, reversal_id: id, reason_code: reasonCode, source_type: source.type, source_id: source.id };
    emit(ctx, posting.origin, transactionReversed, { ...named, amounts }, about);
  }
}

/** Once for each wallet whose balance or available amount differs, with the last transaction on it. */
function tellBalances(ctx: Context, booked: readonly Booked[], changes: readonly { before: AccountState; after: AccountState }[]): void {
  const last = new Map(booked.flatMap(one => one.entries.map(entry => [entry.accountId, one] as const)));
  for (const { before, after } of changes) {
    const [balance, available] = [balanceOf(after), availableOf(after)];
    if (!after.wallet || (balance === balanceOf(before) && available === availableOf(before))) continue;
    const { id, posting } = last.get(after.id)!;
    after.eventCount++;
    const { id: wallet_id, kind, userId } = after.wallet;
    const numbers = { balance, available, delta: balance - balanceOf(before), account_version: after.eventCount };
    emit(ctx, posting.origin, balanceChanged, { wallet_id, kind, currency: after.currency, transaction_id: id, ...numbers }, { userId });
  }
}

/** Events of a batch; numbers those of each wallet. Source: accounting 5. */
export function tell(
  ctx: Context,
  booked: readonly Booked[],
  accounts: ReadonlyMap<string, AccountState>,
  changes: readonly { before: AccountState; after: AccountState }[],
): void {
  for (const one of booked) tellTransaction(ctx, one, accounts);
  tellBalances(ctx, booked, changes);
}
