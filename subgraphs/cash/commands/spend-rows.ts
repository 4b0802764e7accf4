import { cashSpent } from '../../../events/catalogue/cash.js';
import type { Context } from '../../../runtime/request/context.js';
import { CashMovementKind } from '../entities/enums.js';
import type { CashGrant } from '../entities/grant.js';
import { CashSpend, CashSpendLot } from '../entities/spend.js';
import { sumOf, type Take } from '../rules/lots.js';
import { record, type Book } from './book.js';

interface Obligation {
  referenceType: string;
  referenceId: string;
}

/** Writes a spend of lots that were taken: its rows, its movement, its event. */
export function settleObligation(ctx: Context, book: Book, takes: readonly Take<CashGrant>[], obligation: Obligation): CashSpend {
  const { userId, currency } = book.account;
  const units = sumOf(takes, ({ amount }) => amount);
  const spend = Object.assign(new CashSpend(), { userId, currency, units, ...obligation, createdAt: book.now });
  const lots = takes.map(({ lot, amount }, position) =>
    Object.assign(new CashSpendLot(), { spendId: spend.id, grantId: lot.id, position, units: amount }),
  );
  ctx.em.persist([spend, ...lots]);
  const balance = record(ctx, book, CashMovementKind.SPENT, units, spend.reference);
  ctx.emit(
    cashSpent,
    {
      spend_id: spend.id,
      amount: units,
      currency,
      reference_type: obligation.referenceType,
      reference_id: obligation.referenceId,
      lots: takes.map(({ lot, amount }) => ({ grant_id: lot.id, amount, source: lot.source })),
      balance,
    },
    { userId },
  );
  ctx.audit('cash_spend.created', spend.id, { user_id: userId, amount: units, currency });
  return spend;
}
