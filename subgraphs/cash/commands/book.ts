import { cashExpired, cashGranted } from '../../../events/catalogue/cash.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CashAccount, totalOf } from '../entities/account.js';
import { CashGrantStatus, CashMovementKind, CashReservationStatus } from '../entities/enums.js';
import { CashGrant } from '../entities/grant.js';
import { CashMovement } from '../entities/movement.js';
import type { CashReference } from '../entities/reference.js';
import { CashReservation, CashReservationLot } from '../entities/reservation.js';
import { stateAt } from '../rules/lots.js';

const { ACTIVE, SCHEDULED, EXPIRED, REVOKED, EXHAUSTED } = CashGrantStatus;

/**
 * A user's cash in one currency, locked: all that is live, and the one instant at which everything is decided. Every write goes through
 * it, so that whatever time has done is written before what the caller wants. Source: cash 7.2 and 7.3.
 */
export interface Book {
  readonly account: CashAccount;
  readonly grants: Map<string, CashGrant>;
  readonly held: Map<string, CashReservation>;
  /** Of live reservations, by reservation, in the order of spending. */
  readonly lots: Map<string, CashReservationLot[]>;
  /** What has expired since it was opened, minor units. */
  readonly expired: number[];
  readonly now: Date;
}

const MAKE = 'insert into cash.cash_account (user_id, currency, created_at, changed_at) values ($1, $2, $3, $3) on conflict do nothing';

/** What can still change: it waits, is spendable, or has something left. */
const LIVE = { $or: [{ state: { $in: [SCHEDULED, ACTIVE] } }, { left: { $gt: 0 } }, { held: { $gt: 0 } }] };
const FRESH = { refresh: true } as const;

const byId = <Row extends { id: string }>(rows: readonly Row[]): Map<string, Row> => new Map(rows.map(row => [row.id, row]));

async function lotsOf(ctx: Context, reservations: readonly CashReservation[]): Promise<Map<string, CashReservationLot[]>> {
  const ids = reservations.map(({ id }) => id);
  const rows = ids.length ? await ctx.em.find(CashReservationLot, { reservationId: { $in: ids } }, { orderBy: { position: 'asc' } }) : [];
  return Map.groupBy(rows, ({ reservationId }) => reservationId);
}

/** Locks a user's cash in a currency until the transaction ends, and writes what time has done to it. */
export async function openBook(ctx: Context, userId: string, currency: string, at?: Date): Promise<Book> {
  await ctx.sql(MAKE, [userId, currency, ctx.now().toISOString()]);
  const account = await lockRow(ctx, CashAccount, { userId, currency });
  const now = at ?? ctx.now();
  const grants = await ctx.em.find(CashGrant, { userId, currency, ...LIVE }, FRESH);
  const held = await ctx.em.find(CashReservation, { userId, currency, state: CashReservationStatus.HELD }, FRESH);
  const book = { account, grants: byId(grants), held: byId(held), lots: await lotsOf(ctx, held), expired: [], now };
  settle(ctx, book);
  return book;
}

/** What time has done: grants begin, reservations end, and what is left of grants expires, in this order. */
function settle(ctx: Context, book: Book): void {
  for (const grant of byStart(book)) if (grant.state === SCHEDULED && grant.activatesAt <= book.now) activate(ctx, book, grant);
  for (const one of book.held.values()) if (one.expiresAt <= book.now) endReservation(ctx, book, one, CashReservationStatus.EXPIRED);
  for (const grant of byStart(book)) expireIfDue(ctx, book, grant);
}

const byStart = ({ grants }: Book): CashGrant[] => [...grants.values()].sort((a, b) => a.activatesAt.getTime() - b.activatesAt.getTime());

function touch({ account, now }: Book): void {
  account.version += 1;
  account.changedAt = now;
}

/** Total of the account that each kind adds to. */
const TOTALS = {
  [CashMovementKind.GRANTED]: 'granted',
  [CashMovementKind.RETURNED]: 'granted',
  [CashMovementKind.SPENT]: 'spent',
  [CashMovementKind.EXPIRED]: 'expired',
  [CashMovementKind.REVOKED]: 'revoked',
} as const;

/** Adds to the account's totals, with a row that tells of it; answers what is left in all. */
export function record(ctx: Context, book: Book, kind: CashMovementKind, units: number, reference: CashReference): number {
  const { account } = book;
  account[TOTALS[kind]] += units;
  touch(book);
  const { type: referenceType, id: referenceId, key: referenceKey } = reference;
  const about = { userId: account.userId, currency: account.currency, referenceType, referenceId, referenceKey };
  ctx.em.persist(Object.assign(new CashMovement(), { id: newId(), kind, units, unitsAfter: totalOf(account), at: book.now, ...about }));
  return totalOf(account);
}

/** What was given becomes spendable. @param kind RETURNED for what a refund brings back. */
export function activate(ctx: Context, book: Book, grant: CashGrant, kind = CashMovementKind.GRANTED): void {
  grant.state = ACTIVE;
  const balance = record(ctx, book, kind, grant.units, grant.reference);
  const { id, source, units, currency, expiresAt, referenceType, referenceId, userId } = grant;
  ctx.emit(
    cashGranted,
    {
      grant_id: id,
      source,
      amount: units,
      currency,
      expires_at: expiresAt?.toISOString() ?? null,
      reference_type: referenceType,
      reference_id: referenceId,
      balance,
    },
    { userId },
  );
}

/** Takes what is left of a grant; what reservations hold of it stays theirs. */
function takeLeft(ctx: Context, book: Book, grant: CashGrant, reason: 'expired' | 'revoked'): void {
  const { id, left: units, currency, source, userId } = grant;
  if (units === 0) return;
  const isRevoked = reason === 'revoked';
  if (!isRevoked) book.expired.push(units);
  grant.left = 0;
  const balance = record(ctx, book, isRevoked ? CashMovementKind.REVOKED : CashMovementKind.EXPIRED, units, grant.reference);
  const cause = { reference_type: isRevoked ? grant.revokedByType : null, reference_id: isRevoked ? grant.revokedById : null };
  ctx.emit(cashExpired, { grant_id: id, amount: units, currency, reason, source, balance, ...cause }, { userId });
}

function expireIfDue(ctx: Context, book: Book, grant: CashGrant): void {
  if (grant.state === ACTIVE && stateAt(grant, book.now) === EXPIRED) grant.state = EXPIRED;
  if (grant.state === EXPIRED) takeLeft(ctx, book, grant, 'expired');
}

/** Takes a grant back as far as it is not spent. Of one that has not begun nothing is heard. */
export function revoke(ctx: Context, book: Book, grant: CashGrant, by: { type: string; id: string } | null): void {
  const wasScheduled = grant.state === SCHEDULED;
  Object.assign(grant, { state: REVOKED, revokedByType: by?.type ?? null, revokedById: by?.id ?? null });
  touch(book);
  if (wasScheduled) grant.left = 0;
  else takeLeft(ctx, book, grant, 'revoked');
}

/** Sets aside a part of what is left of a grant. */
export function hold(book: Book, grant: CashGrant, units: number): void {
  grant.left -= units;
  grant.held += units;
  book.account.reserved += units;
  touch(book);
}

/** Gives back what was set aside; of a grant that has ended meanwhile it is gone at once. */
export function unhold(ctx: Context, book: Book, grant: CashGrant, units: number): void {
  grant.held -= units;
  grant.left += units;
  book.account.reserved -= units;
  touch(book);
  expireIfDue(ctx, book, grant);
  if (grant.state === REVOKED) takeLeft(ctx, book, grant, 'revoked');
}

/** Spends what was set aside. */
export function consume(book: Book, grant: CashGrant, units: number): void {
  grant.held -= units;
  book.account.reserved -= units;
  if (grant.state === ACTIVE && grant.left + grant.held === 0) grant.state = EXHAUSTED;
}

/** Ends a reservation without a spend: its lots are as before it. */
export function endReservation(
  ctx: Context,
  book: Book,
  reservation: CashReservation,
  state: CashReservationStatus.RELEASED | CashReservationStatus.EXPIRED,
): void {
  reservation.state = state;
  book.held.delete(reservation.id);
  for (const { grantId, units } of book.lots.get(reservation.id) ?? []) unhold(ctx, book, book.grants.get(grantId)!, units);
}

/** Adds what is new to a book: a grant that has begun is heard of at once. */
export function enter(ctx: Context, book: Book, grant: CashGrant, kind?: CashMovementKind): CashGrant {
  book.grants.set(grant.id, grant);
  ctx.em.persist(grant);
  if (grant.activatesAt <= book.now) activate(ctx, book, grant, kind);
  else touch(book);
  expireIfDue(ctx, book, grant);
  return grant;
}
