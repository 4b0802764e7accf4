import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, page, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { CashBulkGrantResult } from '../entities/bulk.js';
import { CashGrantStatus } from '../entities/enums.js';
import { CashGrant } from '../entities/grant.js';
import type { CashLot } from '../entities/lot.js';
import { CashMovement } from '../entities/movement.js';
import { CashReservationLot } from '../entities/reservation.js';
import { CashSpendLot } from '../entities/spend.js';
import type { CashGrantsArgs } from '../inputs/grant.js';
import type { CashMovementsArgs } from '../inputs/reservation.js';
import type { PageArgs } from '../../../runtime/request/paging.js';
import { rowsBy } from '../../../runtime/data/rows.js';

const { SCHEDULED, ACTIVE, EXPIRED } = CashGrantStatus;

/** Time moves a grant on before the sweep writes it, so a list of one status is a list of times. */
function inStatus(status: CashGrantStatus, now: Date): FilterQuery<CashGrant> {
  const live = { state: { $in: [SCHEDULED, ACTIVE] } };
  if (status === SCHEDULED) return { ...live, activatesAt: { $gt: now } };
  if (status === ACTIVE) return { ...live, activatesAt: { $lte: now }, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
  if (status === EXPIRED) return { $or: [{ state: EXPIRED }, { ...live, expiresAt: { $lte: now } }] };
  return { state: status };
}

/** What comes behind a cursor in the order of ends, of which none is the last. */
function behind(cursor: string): FilterQuery<CashGrant> {
  const [end, made, id] = decodeCursor(cursor, 3);
  const [createdAt, expiresAt] = [instantOf(made ?? null), end === null ? null : instantOf(end ?? null)];
  const sameEnd = { expiresAt, $or: [{ createdAt: { $gt: createdAt } }, { createdAt, id: { $gt: String(id) } }] };
  return expiresAt === null ? sameEnd : { $or: [{ expiresAt: { $gt: expiresAt } }, { expiresAt: null }, sameEnd] };
}

function instantOf(value: string | number | null): Date {
  const at = new Date(value ?? '');
  return Number.isNaN(at.getTime()) ? (decodeCursor('', 3) as never) : at;
}

/** Grants of a user, soonest expiry first. */
export async function grantsPage(
  ctx: Context,
  userId: string,
  { status, first, after }: Omit<CashGrantsArgs, 'userId'>,
): Promise<Connection<CashGrant>> {
  const where: FilterQuery<CashGrant> = { $and: [{ userId }, status ? inStatus(status, ctx.now()) : {}, after ? behind(after) : {}] };
  const rows = await ctx.em.find(CashGrant, where, { orderBy: { expiresAt: 'asc', createdAt: 'asc', id: 'asc' }, limit: first + 1 });
  return toConnection(rows, first, row => [row.expiresAt?.toISOString() ?? null, row.createdAt.toISOString(), row.id]);
}

/** What has changed a user's cash, newest first. */
export const movementsPage = (
  ctx: Context,
  userId: string,
  { kind, ...paging }: Omit<CashMovementsArgs, 'userId'>,
): Promise<Connection<CashMovement>> => page(ctx.em, CashMovement, kind ? { userId, kind } : { userId }, paging, { time: 'at' });

/** What became of the users of a campaign. */
export const resultsPage = (ctx: Context, bulkGrantId: string, paging: PageArgs): Promise<Connection<CashBulkGrantResult>> =>
  page(ctx.em, CashBulkGrantResult, { bulkGrantId }, paging, { time: 'createdAt', direction: 'asc' });

interface LotRow {
  grantId: string;
  position: number;
  units: number;
}

async function shown<Row extends LotRow>(
  ctx: Context,
  owners: readonly string[],
  rows: readonly Row[],
  ownerOf: (row: Row) => string,
): Promise<CashLot[][]> {
  const ids = [...new Set(rows.map(({ grantId }) => grantId))];
  const grants = new Map((await rowsBy(ctx, CashGrant, 'id', ids)).map(grant => [grant!.id, grant!]));
  const lotOf = ({ grantId, units }: Row): CashLot => {
    const grant = grants.get(grantId)!;
    return { grant, amount: { amount: units, currency: grant.currency }, expiresAt: grant.expiresAt };
  };
  return owners.map(owner => rows.filter(row => ownerOf(row) === owner).map(lotOf));
}

const IN_ORDER = { orderBy: { position: 'asc' } } as const;

/** Lots of a spend, in a batch with all others that the request asks for. */
export const lotsOfSpend = async (ctx: Context, id: string): Promise<CashLot[]> =>
  (await ctx.load('cash.spend.lots', id, async ids =>
    shown(ctx, ids, await ctx.em.find(CashSpendLot, { spendId: { $in: [...ids] } }, IN_ORDER), row => row.spendId),
  )) ?? [];

/** Lots of a reservation, in a batch with all others that the request asks for. */
export const lotsOfReservation = async (ctx: Context, id: string): Promise<CashLot[]> =>
  (await ctx.load('cash.reservation.lots', id, async ids =>
    shown(ctx, ids, await ctx.em.find(CashReservationLot, { reservationId: { $in: [...ids] } }, IN_ORDER), row => row.reservationId),
  )) ?? [];
