import type { Context } from '../../../runtime/request/context.js';
import { CashAccount } from '../entities/account.js';
import type { CashBalance, CashUsePreview } from '../entities/balance.js';
import { CashGrantStatus, CashReservationStatus } from '../entities/enums.js';
import { CashGrant } from '../entities/grant.js';
import { CashReservation, CashReservationLot } from '../entities/reservation.js';
import { byEnd, figuresAt, usableParts, type HeldPart } from '../rules/balance.js';
import { allot, sumOf, type Purchase } from '../rules/lots.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';

/** Rows as they are now, not as this request has seen them before. */
const FRESH = { disableIdentityMap: true } as const;
const { SCHEDULED, ACTIVE } = CashGrantStatus;

/** Currency of a balance for which none was said, where there is no cash. */
const NO_CASH = 'USD';

/** Everything that some users' balances follow from, read with one statement per table. */
interface Facts {
  accounts: CashAccount[];
  grants: CashGrant[];
  held: (HeldPart & { userId: string; currency: string })[];
  at: Date;
}

async function heldParts(ctx: Context, userIds: readonly string[]): Promise<Facts['held']> {
  const live = { userId: { $in: [...userIds] }, state: CashReservationStatus.HELD };
  const reservations = new Map((await ctx.em.find(CashReservation, live, FRESH)).map(one => [one.id, one]));
  if (reservations.size === 0) return [];
  const lots = await ctx.em.find(CashReservationLot, { reservationId: { $in: [...reservations.keys()] } }, FRESH);
  return lots.map(({ reservationId, grantId, units }) => {
    const { expiresAt, userId, currency } = reservations.get(reservationId)!;
    return { grantId, units, expiresAt, userId, currency };
  });
}

async function factsOf(ctx: Context, userIds: readonly string[]): Promise<Facts> {
  const ofUsers = { userId: { $in: [...userIds] } };
  return {
    at: ctx.now(),
    accounts: await ctx.em.find(CashAccount, ofUsers, { ...FRESH, orderBy: { createdAt: 'asc', currency: 'asc' } }),
    grants: await ctx.em.find(CashGrant, { ...ofUsers, state: { $in: [SCHEDULED, ACTIVE] } }, FRESH),
    held: await heldParts(ctx, userIds),
  };
}

/** What one user has in one currency. */
function partOf({ accounts, grants, held, at }: Facts, userId: string, wanted: string | null) {
  const own = accounts.filter(one => one.userId === userId);
  const currency = wanted ?? own[0]?.currency ?? NO_CASH;
  const isOf = (one: { userId: string; currency: string }): boolean => one.userId === userId && one.currency === currency;
  return { currency, account: own.find(isOf), lots: grants.filter(isOf), held: held.filter(isOf), at };
}

function balanceFrom(facts: Facts, userId: string, wanted: string | null): CashBalance {
  const { currency, account, lots, held, at } = partOf(facts, userId, wanted);
  const { available, reserved, expiringNext } = figuresAt(lots, held, at);
  const money = (amount: number) => ({ amount, currency });
  return {
    userId,
    currency,
    available: money(available),
    reserved: money(reserved),
    total: money(available + reserved),
    expiringNext: expiringNext && { amount: money(expiringNext.amount), at: expiringNext.at },
    version: account?.version ?? 0,
  };
}

/** Balance of a user as of now. @param currency null: that of the oldest cash. */
export const balanceOf = async (ctx: Context, userId: string, currency: string | null): Promise<CashBalance> =>
  balanceFrom(await factsOf(ctx, [userId]), userId, currency);

/** The same in a batch with all others that the request asks for. */
export const loadBalance = async (ctx: Context, userId: string, currency: string | null): Promise<CashBalance> =>
  (await ctx.load('cash.balance', { userId, currency }, async keys => {
    const facts = await factsOf(ctx, [...new Set(keys.map(key => key.userId))]);
    return keys.map(key => balanceFrom(facts, key.userId, key.currency));
  }))!;

const SOON_MS = 30 * DAY_MS;

/** What a purchase would take of a user's cash, and what of the rest would expire unused in the next 30 days. Source: cash 9.3. */
export async function previewUse(ctx: Context, userId: string, currency: string, purchase: Purchase): Promise<CashUsePreview> {
  const { lots, held, at } = partOf(await factsOf(ctx, [userId]), userId, currency);
  const now = usableParts(lots, held, at).map(({ lot, amount }) => Object.assign(lot, { left: amount }));
  const takes = allot(now, purchase.subtotal, purchase, at);
  const taken = new Map(takes.map(({ lot, amount }) => [lot.id, amount]));
  const rest = now.map(lot => ({ lot, amount: lot.left - (taken.get(lot.id) ?? 0) }));
  const soon = byEnd(rest).filter(one => one.at <= after(at, SOON_MS));
  const money = (amount: number) => ({ amount, currency });
  return {
    amount: money(sumOf(takes, ({ amount }) => amount)),
    lots: takes.map(({ lot, amount }) => ({ grant: lot, amount: money(amount), expiresAt: lot.expiresAt })),
    expiringUnused: soon.map(one => ({ amount: money(one.amount), at: one.at })),
  };
}
