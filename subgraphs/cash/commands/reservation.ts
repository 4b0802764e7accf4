import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Context } from '../../../runtime/request/context.js';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import { move } from '../../../runtime/request/states.js';
import type { MoneyInput } from '../../../runtime/schema/scalars.js';
import { CashReservationStatus } from '../entities/enums.js';
import type { CashGrant } from '../entities/grant.js';
import { CashReservation, CashReservationLot } from '../entities/reservation.js';
import { CashSpend } from '../entities/spend.js';
import type { CommitCashInput, ReserveCashInput } from '../inputs/reservation.js';
import type { CashPurchaseInput, CashReferenceInput } from '../inputs/purchase.js';
import { allot, sumOf, type Purchase, type Take } from '../rules/lots.js';
import { holdUntil, RESERVATION_STATES } from '../rules/reservations.js';
import { consume, endReservation, hold, openBook, unhold, type Book } from './book.js';
import { settleObligation } from './spend-rows.js';

export const insufficient = (): never => fail('conflict', 'There is not enough cash', { reason: 'insufficient_funds' });

/** @throws Problem invalid_request for a purchase in another currency: nothing is converted. Source: cash 7.6. */
export function purchaseOf(input: CashPurchaseInput, { currency }: Pick<MoneyInput, 'currency'>): Purchase {
  if (input.subtotal.currency !== currency) invalid('/input/purchase/subtotal/currency', 'must be that of the amount');
  return { subtotal: input.subtotal.amount, subjectKinds: input.subjectKinds };
}

export const referenceOf = ({ type, id }: CashReferenceInput) => ({ referenceType: type, referenceId: id.toLowerCase() });

function holdLots(ctx: Context, book: Book, reservation: CashReservation, takes: readonly Take<CashGrant>[]): void {
  const lots = takes.map(({ lot, amount }, position) => {
    hold(book, lot, amount);
    return Object.assign(new CashReservationLot(), { reservationId: reservation.id, grantId: lot.id, position, units: amount });
  });
  book.held.set(reservation.id, reservation);
  book.lots.set(reservation.id, lots);
  ctx.em.persist([reservation, ...lots]);
}

/** The live reservation of the same reference, with status 200. @throws Problem idempotency_mismatch where something else was wanted. */
function repeated(ctx: Context, before: CashReservation, { currency, amount }: MoneyInput): CashReservation {
  if (before.currency !== currency || before.asked !== amount) fail('idempotency_mismatch', 'This reference holds another amount');
  ctx.status(200);
  return before;
}

/** Holds what a purchase may take, at most so much; less where there is less. @throws Problem conflict where it must be exact and is less. */
export async function reserveCash(ctx: Context, input: ReserveCashInput): Promise<CashReservation> {
  const { maxAmount, exact } = input;
  const [userId, reference, purchase] = [input.userId.toLowerCase(), referenceOf(input.reference), purchaseOf(input.purchase, maxAmount)];
  const book = await openBook(ctx, userId, maxAmount.currency);
  const before = await ctx.em.findOne(CashReservation, { ...reference, userId, state: CashReservationStatus.HELD });
  if (before) return repeated(ctx, before, maxAmount);
  if (await ctx.em.findOne(CashSpend, reference)) fail('conflict', 'Cash was spent for this already', { reason: 'already_spent' });
  const takes = allot([...book.grants.values()], maxAmount.amount, purchase, book.now);
  const units = sumOf(takes, ({ amount }) => amount);
  if (exact && units < maxAmount.amount) insufficient();
  const times = { createdAt: book.now, expiresAt: holdUntil(book.now, book.now) };
  const terms = { userId, currency: maxAmount.currency, asked: maxAmount.amount, units };
  const reservation = Object.assign(new CashReservation(), { ...terms, ...reference, ...times });
  holdLots(ctx, book, reservation, takes);
  ctx.audit('cash_reservation.held', reservation.id, { user_id: userId, amount: units, currency: terms.currency });
  return reservation;
}

/** A reservation as time has left it, in its open book. @throws Problem not_found. */
async function opened(ctx: Context, id: string): Promise<{ book: Book; reservation: CashReservation }> {
  const { userId, currency } = await requireRow(ctx, CashReservation, { id });
  const book = await openBook(ctx, userId, currency);
  const reservation = book.held.get(id.toLowerCase()) ?? (await lockRow(ctx, CashReservation, { id }));
  return { book, reservation };
}

/** Holds for 30 minutes from now, at most 8 days in all. @throws Problem conflict unless it is held. */
export async function extendReservation(ctx: Context, id: string): Promise<CashReservation> {
  const { book, reservation } = await opened(ctx, id);
  move(RESERVATION_STATES, 'reservation', reservation.state, 'extend');
  reservation.expiresAt = holdUntil(reservation.createdAt, book.now);
  ctx.audit('cash_reservation.extended', reservation.id, { until: reservation.expiresAt });
  return reservation;
}

/** Gives everything back. One that is released already stays so. @throws Problem conflict for one that was committed or has expired. */
export async function releaseReservation(ctx: Context, id: string): Promise<CashReservation> {
  const { book, reservation } = await opened(ctx, id);
  if (reservation.state === CashReservationStatus.RELEASED) return reservation;
  move(RESERVATION_STATES, 'reservation', reservation.state, 'release');
  endReservation(ctx, book, reservation, CashReservationStatus.RELEASED);
  ctx.audit('cash_reservation.released', reservation.id, { amount: reservation.units });
  return reservation;
}

/** Takes so much of a reservation's lots, in their order; the rest of each goes back. */
function takeOf(ctx: Context, book: Book, lots: readonly CashReservationLot[], wanted: number): Take<CashGrant>[] {
  let open = wanted;
  const takes: Take<CashGrant>[] = [];
  for (const { grantId, units } of lots) {
    const [lot, amount] = [book.grants.get(grantId)!, Math.min(units, open)];
    open -= amount;
    consume(book, lot, amount);
    if (amount < units) unhold(ctx, book, lot, units - amount);
    if (amount > 0) takes.push({ lot, amount });
  }
  return takes;
}

async function committedAgain(ctx: Context, reservation: CashReservation, amount: number): Promise<CashReservation> {
  const spend = reservation.spendId === null ? null : await ctx.em.findOneOrFail(CashSpend, { id: reservation.spendId });
  if ((spend?.units ?? 0) !== amount) fail('idempotency_mismatch', 'It was committed with another amount');
  return reservation;
}

/** Spends at most what is held. Committed again, it answers the same. @throws Problem conflict for one that has ended otherwise. */
export async function commitReservation(ctx: Context, { id, amount }: CommitCashInput): Promise<CashReservation> {
  const { book, reservation } = await opened(ctx, id);
  const wanted = amount ?? reservation.units;
  if (reservation.state === CashReservationStatus.COMMITTED) return committedAgain(ctx, reservation, wanted);
  const state = move(RESERVATION_STATES, 'reservation', reservation.state, 'commit');
  if (wanted > reservation.units) invalid('/input/amount', 'must be at most what is held');
  const takes = takeOf(ctx, book, book.lots.get(reservation.id) ?? [], wanted);
  book.held.delete(reservation.id);
  const { referenceType, referenceId } = reservation;
  const spend = wanted > 0 ? settleObligation(ctx, book, takes, { referenceType, referenceId }) : null;
  Object.assign(reservation, { state, spendId: spend?.id ?? null });
  ctx.audit('cash_reservation.committed', reservation.id, { amount: wanted });
  return reservation;
}
