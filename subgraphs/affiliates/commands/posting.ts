import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { requireRow } from '../../../runtime/data/rows.js';
import { earliestOf } from '../../../runtime/time/due.js';
import { Commission, CommissionMark, PostingRun, type CommissionPosting } from '../entities/commission.js';
import { AffiliateRunKind, CommissionReversalCause } from '../entities/enums.js';
import type { PostDueCommissionsArgs, ReverseCommissionInput } from '../inputs/commission.js';
import { IS_DISPUTED, REVERSED } from '../queries/figures.js';
import { lockAffiliate, post, reverse, standingOf, tellAccrued, type Open } from './ledger.js';

/** What can be posted once its time has come; of what waits, see the migration, that which is not disputed. */
const POSTABLE = `
select c.id, c.affiliate_id, c.currency, c.amount - ${REVERSED} as net, w.payable_at as at
from affiliates.commission_waiting w join affiliates.commission c on c.id = w.commission_id where not ${IS_DISPUTED}`;

export const EARLIEST_DUE = `${POSTABLE} order by at limit 1`;

const DUE_AFFILIATES = `select distinct affiliate_id as id from (${POSTABLE}) postable where at <= $1 order by 1`;
const DUE = `select id from (${POSTABLE}) postable where at <= $1 and affiliate_id = $2 order by at, id`;
const SUMS = `select currency, count(*)::int as count, sum(net)::float8 as units from (${POSTABLE}) postable where at <= $1 group by 1 order by 1`;

/** When the next commission is due; null: none waits. */
export const earliestDue = (ctx: Context): Promise<Date | null> => earliestOf(ctx, EARLIEST_DUE);

/** Posts what is due of one affiliate, decided in its lock; answers what was posted, by commission. */
async function postAffiliate(ctx: Context, affiliateId: string, asOf: Date, runId: string): Promise<{ currency: string; units: number }[]> {
  const affiliate = await lockAffiliate(ctx, affiliateId);
  const due = await ctx.sql<{ id: string }>(DUE, [asOf.toISOString(), affiliateId]);
  const commissions = await ctx.em.find(Commission, { id: { $in: due.map(({ id }) => id) } }, { orderBy: { payableAt: 'asc', id: 'asc' } });
  const posted: { currency: string; units: number }[] = [];
  for (const commission of commissions) {
    const open = await standingOf(ctx, affiliate, commission);
    post(ctx, open, runId);
    posted.push({ currency: commission.currency, units: open.figures.net });
  }
  return posted;
}

function postingOf(posted: readonly { currency: string; units: number }[]): CommissionPosting {
  const currencies = [...new Set(posted.map(({ currency }) => currency))].sort();
  const sumIn = (currency: string): number => posted.reduce((sum, one) => sum + (one.currency === currency ? one.units : 0), 0);
  return { posted: posted.length, amount: currencies.map(currency => ({ amount: sumIn(currency), currency })) };
}

/** Posts everything that is due, each affiliate in a transaction of its own. A second run finds nothing left. */
export async function postDue(ctx: Context, asOf: Date): Promise<CommissionPosting> {
  const affiliates = await ctx.host.read(own => own.sql<{ id: string }>(DUE_AFFILIATES, [asOf.toISOString()]));
  if (affiliates.length === 0) return { posted: 0, amount: [] };
  const run = newId();
  await ctx.host.transaction(async own => {
    own.em.persist(Object.assign(new PostingRun(), { id: run, kind: AffiliateRunKind.POSTING, asOf, createdAt: own.now() }));
  });
  const posted: { currency: string; units: number }[] = [];
  for (const { id } of affiliates) posted.push(...(await ctx.host.transaction(own => postAffiliate(own, id, asOf, run))));
  await ctx.host.transaction(own => own.em.nativeUpdate(PostingRun, { id: run }, { posted: posted.length, finishedAt: own.now() }));
  return postingOf(posted);
}

/** By hand, or only to see. @throws Problem invalid_request for an instant to come. */
export async function postDueByHand(ctx: Context, { asOf, dryRun }: PostDueCommissionsArgs): Promise<CommissionPosting> {
  const now = await ctx.host.read(async own => own.now());
  const at = asOf ?? now;
  if (at > now) invalid('/asOf', 'must not be in the future');
  if (!dryRun) return postDue(ctx, at);
  const sums = await ctx.host.read(own => own.sql<{ currency: string; count: number; units: number }>(SUMS, [at.toISOString()]));
  return {
    posted: sums.reduce((sum, { count }) => sum + count, 0),
    amount: sums.map(({ currency, units }) => ({ amount: units, currency })),
  };
}

async function opened(ctx: Context, id: string): Promise<Open> {
  const commission = await requireRow(ctx, Commission, { id });
  return standingOf(ctx, await lockAffiliate(ctx, commission.affiliateId), commission);
}

/** Lets a held commission go: from now on it is as any other. @throws Problem conflict for one that is not held. */
export async function releaseCommission(ctx: Context, id: string): Promise<Commission> {
  const open = await opened(ctx, id);
  const { commission, figures, affiliate } = open;
  if (!figures.isHeld) fail('conflict', `a commission that is ${figures.status} cannot be released`);
  ctx.em.persist(Object.assign(new CommissionMark(), { commissionId: commission.id, kind: 'released', at: ctx.now() }));
  affiliate.changedAt = ctx.now();
  if (figures.net > 0) tellAccrued(ctx, open, figures.net, commission.id);
  ctx.audit('commission.released', commission.id, { affiliate: affiliate.id, amount: figures.net });
  return commission;
}

/** Takes back a part of a commission, or all that is left. @throws Problem conflict for more than is left. */
export async function reverseCommission(ctx: Context, { id, amount, cause }: ReverseCommissionInput): Promise<Commission> {
  const open = await opened(ctx, id);
  if (cause !== CommissionReversalCause.STAFF && cause !== CommissionReversalCause.FRAUD) invalid('/input/cause', 'must be staff or fraud');
  const units = amount ?? open.figures.net;
  if (units > open.figures.net || units === 0) fail('conflict', 'Less than that is left of the commission', { reason: 'over_net' });
  reverse(ctx, open, units, { cause, causeId: newId() });
  return open.commission;
}
