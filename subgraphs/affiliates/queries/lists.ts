import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, page, toConnection, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { rowsBy } from '../../../runtime/data/rows.js';
import { Affiliate, AffiliateLink, type AffiliateEarnings } from '../entities/affiliate.js';
import { AffiliateAttribution, type ReferredCustomer } from '../entities/attribution.js';
import { AffiliateFraudSignal, AffiliatePayout, Commission, CommissionReversal } from '../entities/commission.js';
import { CommissionStatus, WinBackClaimStatus } from '../entities/enums.js';
import { AffiliateProgram, CommissionTier } from '../entities/program.js';
import { WinBackClaim } from '../entities/win-back.js';
import type { AffiliatesArgs, MyWinBackClaimsArgs } from '../inputs/affiliate.js';
import type { MyReferredCustomersArgs } from '../inputs/attribution.js';
import type { CommissionsArgs } from '../inputs/commission.js';
import { LEAST_CUSTOMERS } from '../rules/affiliates.js';
import { earnedBy, IS_HELD, IS_PAID, IS_POSTED, REVERSED } from './figures.js';

const BY_CREATION = { time: 'createdAt' } as const;

/** Programs, by key; those that are over are for who may change them. */
export const programsOf = (ctx: Context, isAll: boolean): Promise<AffiliateProgram[]> =>
  ctx.em.find(AffiliateProgram, isAll ? {} : { active: true }, { orderBy: { key: 'asc' } });

/** Tiers of a program, lowest first, in a batch. */
export const tiersOf = async (ctx: Context, programId: string): Promise<CommissionTier[]> =>
  (await ctx.load('affiliates.tiers', programId, async ids => {
    const tiers = await ctx.em.find(CommissionTier, { programId: { $in: [...ids] } }, { orderBy: { rank: 'asc' } });
    return ids.map(id => tiers.filter(one => one.programId === id));
  })) ?? [];

/** Links of an affiliate that lead somewhere, oldest first, in a batch. */
export const linksOf = async (ctx: Context, affiliateId: string): Promise<AffiliateLink[]> =>
  (await ctx.load('affiliates.links', affiliateId, async ids => {
    const links = await ctx.em.find(
      AffiliateLink,
      { affiliateId: { $in: [...ids] }, deletedAt: null },
      { orderBy: { createdAt: 'asc', id: 'asc' } },
    );
    return ids.map(id => links.filter(one => one.affiliateId === id));
  })) ?? [];

/** Reversals of a commission, oldest first, in a batch. */
export const reversalsOf = async (ctx: Context, commissionId: string): Promise<CommissionReversal[]> =>
  (await ctx.load('affiliates.reversals', commissionId, async ids => {
    const rows = await ctx.em.find(CommissionReversal, { commissionId: { $in: [...ids] } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return ids.map(id => rows.filter(one => one.commissionId === id));
  })) ?? [];

/** Affiliates by code, null for a code of nobody, in the order of the codes. */
export async function idsByCode(ctx: Context, codes: readonly string[]): Promise<(string | null)[]> {
  const found = await rowsBy(
    ctx,
    Affiliate,
    'code',
    codes.map(code => code.toUpperCase()),
  );
  return found.map(one => one?.id ?? null);
}

export const affiliatesPage = (ctx: Context, { status, programId, ...paging }: AffiliatesArgs): Promise<Connection<Affiliate>> =>
  page(ctx.em, Affiliate, { ...(status && { status }), ...(programId && { programId: programId.toLowerCase() }) }, paging, BY_CREATION);

export const signalsPage = (ctx: Context, paging: PageArgs): Promise<Connection<AffiliateFraudSignal>> =>
  page(ctx.em, AffiliateFraudSignal, {}, paging, BY_CREATION);

/** The own affiliates of the caller. */
export const ownIds = async (ctx: Context): Promise<string[]> =>
  (await ctx.em.find(Affiliate, { userId: ctx.caller.userId! }, { fields: ['id'] })).map(({ id }) => id);

export const payoutsPage = async (ctx: Context, paging: PageArgs): Promise<Connection<AffiliatePayout>> =>
  page(ctx.em, AffiliatePayout, { affiliateId: { $in: await ownIds(ctx) } }, paging, BY_CREATION);

const NET = `(c.amount - ${REVERSED})`;
/** Which commissions have a status; the same as `statusOf` decides. */
const WITH_STATUS: Readonly<Record<CommissionStatus, string>> = {
  [CommissionStatus.REVERSED]: `${NET} = 0`,
  [CommissionStatus.HELD]: `${NET} > 0 and ${IS_HELD}`,
  [CommissionStatus.ACCRUED]: `${NET} > 0 and not ${IS_HELD} and not ${IS_POSTED}`,
  [CommissionStatus.POSTED]: `${NET} > 0 and ${IS_POSTED} and not ${IS_PAID}`,
  [CommissionStatus.PAID]: `${NET} > 0 and ${IS_POSTED} and ${IS_PAID}`,
};

type CommissionQuery = Omit<CommissionsArgs, 'affiliateId'> & { affiliateIds: readonly string[] | null };

const instant = (value: unknown): string => {
  const at = new Date(String(value));
  return Number.isNaN(at.getTime()) ? (decodeCursor('', 2) as never) : at.toISOString();
};

/** Commissions, newest first. @param affiliateIds null: of all. */
export async function commissionsPage(
  ctx: Context,
  { affiliateIds, obligationId, status, from, to, first, after }: CommissionQuery,
): Promise<Connection<Commission>> {
  const [at, id] = after ? decodeCursor(after, 2) : [null, null];
  if (id !== null && !isUuid(String(id))) decodeCursor('', 2);
  const rows = await ctx.sql<{ id: string }>(
    `select c.id from affiliates.commission c where ($1::uuid[] is null or c.affiliate_id = any($1)) and ($2::timestamptz is null or c.created_at >= $2)
       and ($3::timestamptz is null or c.created_at < $3) and ($4::timestamptz is null or (c.created_at, c.id) < ($4, $5::uuid))
       and ($7::uuid is null or c.obligation_id = $7) and ${status ? WITH_STATUS[status] : 'true'} order by c.created_at desc, c.id desc limit $6`,
    [
      affiliateIds,
      from?.toISOString() ?? null,
      to?.toISOString() ?? null,
      at === null ? null : instant(at),
      id,
      first + 1,
      obligationId ?? null,
    ],
  );
  const commissions = (
    await rowsBy(
      ctx,
      Commission,
      'id',
      rows.map(row => row.id),
    )
  ).filter(row => row !== null);
  return toConnection(commissions, first, row => [row.createdAt.toISOString(), row.id]);
}

/** What an affiliate has earned, in a batch. */
export async function earningsOf(ctx: Context, affiliateId: string, currency: string): Promise<AffiliateEarnings> {
  const all = (await ctx.load('affiliates.earnings', affiliateId, async ids => {
    const rows = await earnedBy(ctx, ids);
    return ids.map(id => rows.filter(one => one.id === id));
  }))!;
  const { accrued, posted, paid, reversed, nextMs } = all.find(one => one.currency === currency) ?? {
    accrued: 0,
    posted: 0,
    paid: 0,
    reversed: 0,
    nextMs: null,
  };
  const money = (amount: number) => ({ amount, currency });
  return {
    currency,
    accrued: money(accrued),
    posted: money(posted),
    paid: money(paid),
    reversed: money(reversed),
    balance: money(posted - paid),
    nextPayoutAt: nextMs === null ? null : new Date(nextMs),
  };
}

const WITH_CUSTOMERS = `
select a.id, to_char(a.attributed_at at time zone 'utc', 'YYYY-MM') as month, p.currency,
  coalesce((select sum(c.amount - ${REVERSED}) from affiliates.commission c where c.attribution_id = a.id and c.currency = p.currency and not ${IS_HELD}), 0)::float8 as units
from affiliates.attribution a join affiliates.affiliate_program p on p.id = a.program_id where a.affiliate_id = any($1::uuid[])`;

interface Referred {
  id: string;
  month: string;
  currency: string;
  units: number;
}

const customersIn = (all: readonly Referred[], month: string): number => all.filter(one => one.month === month).length;

/** Customers of the caller as it may see them: an amount of each only where its month has at least three. Source: affiliates 2. */
export async function customersPage(ctx: Context, { stage, ...paging }: MyReferredCustomersArgs): Promise<Connection<ReferredCustomer>> {
  const ids = await ownIds(ctx);
  const where = { affiliateId: { $in: ids }, ...(stage && { stage }) };
  const { nodes, pageInfo } = await page(ctx.em, AffiliateAttribution, where, paging, { time: 'attributedAt' });
  const all = await ctx.sql<Referred>(WITH_CUSTOMERS, [ids]);
  const isSmall = ({ month }: Referred): boolean => customersIn(all, month) < LEAST_CUSTOMERS;
  const shown = nodes.map(({ id, customerAlias, stage: reached, attributedAt }) => {
    const one = all.find(row => row.id === id)!;
    const { month, currency, units } = one;
    const small = all.filter(row => row.currency === currency && isSmall(row)).reduce((sum, row) => sum + row.units, 0);
    const amount = isSmall(one) ? null : { amount: units, currency };
    return { id, attributedAt, customerAlias, stage: reached, month, amount, smallMonths: { amount: small, currency } };
  });
  return { nodes: shown, pageInfo };
}

/** Win-back claims of the caller, newest first. */
export async function claimsPage(ctx: Context, { status, ...paging }: MyWinBackClaimsArgs): Promise<Connection<WinBackClaim>> {
  const { EXPIRED, OFFERED, SENT } = WinBackClaimStatus;
  const affiliateId = { $in: await ownIds(ctx) };
  const isOpen = status === OFFERED || status === SENT;
  const inStatus = !status
    ? {}
    : isOpen
      ? { state: status, expiresAt: { $gt: ctx.now() } }
      : status === EXPIRED
        ? { $or: [{ state: EXPIRED }, { state: { $in: [OFFERED, SENT] }, expiresAt: { $lte: ctx.now() } }] }
        : { state: status };
  return page(ctx.em, WinBackClaim, { $and: [{ affiliateId }, inStatus] }, paging, BY_CREATION);
}

/** The live attribution of a user; where no program is named the oldest. */
export async function attributionOf(
  ctx: Context,
  userId: string,
  programId: string | null | undefined,
): Promise<AffiliateAttribution | null> {
  const where = { customerId: userId.toLowerCase(), endedAt: null, ...(programId && { programId: programId.toLowerCase() }) };
  const [found] = await ctx.em.find(AffiliateAttribution, where, { orderBy: { attributedAt: 'asc', id: 'asc' }, limit: 1 });
  return found ?? null;
}
