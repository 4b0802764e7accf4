import { z } from 'zod';
import { newId } from '../../../runtime/data/ids.js';
import { enqueue } from '../../../runtime/jobs/enqueue.js';
import { jobQueue } from '../../../runtime/jobs/queue.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { earliestOf } from '../../../runtime/time/due.js';
import { Affiliate } from '../entities/affiliate.js';
import { AffiliatePayout, PostingRun } from '../entities/commission.js';
import { AffiliatePayoutStatus, AffiliateRunKind } from '../entities/enums.js';
import type { RunAffiliatePayoutsInput } from '../inputs/commission.js';
import { createPayout, hasDestination, payoutOf, type Payout } from '../ports/payments.js';
import { IS_IN_PAYOUT, IS_POSTED, REVERSED } from '../queries/figures.js';
import { lockAffiliate } from './ledger.js';

/** What is owed and not paid, by affiliate and currency; below 0 is carried. Source: affiliates 7.7. */
const OWED = `
select a.id as "affiliateId", a.user_id as "userId", a.status, p.currency as "ofProgram", p.minimum_payout::float8 as least, o.currency, o.units::float8 as units
from (select c.affiliate_id, c.currency, sum(c.amount - ${REVERSED}) - coalesce((select sum(x.amount) from affiliates.affiliate_payout x
        where x.affiliate_id = c.affiliate_id and x.currency = c.currency and x.status in ('requested', 'in_flight', 'paid')), 0) as units
      from affiliates.commission c where ${IS_POSTED} and ($1::uuid is null or c.affiliate_id = $1) group by 1, 2) o
join affiliates.affiliate a on a.id = o.affiliate_id join affiliates.affiliate_program p on p.id = a.program_id
where o.units > 0 and (a.status = 'closed' or o.currency <> p.currency or o.units >= p.minimum_payout) and a.status <> 'suspended'
  and ($2::uuid is null or p.id = $2) order by a.id, o.currency`;

interface Owed {
  affiliateId: string;
  userId: string;
  currency: string;
  units: number;
}

/** Commissions whose money a payout carries. */
const CARRIED = `
insert into affiliates.payout_commission (payout_id, commission_id)
select $1, c.id from affiliates.commission c where c.affiliate_id = $2 and c.currency = $3 and ${IS_POSTED} and not ${IS_IN_PAYOUT}`;

/** Sets an amount aside for a run, in the lock of its affiliate; null where nothing is owed any more, or the run has done so before. */
async function setAside(ctx: Context, runId: string, { affiliateId, currency }: Owed): Promise<AffiliatePayout | null> {
  const affiliate = await lockAffiliate(ctx, affiliateId);
  if (await ctx.em.count(AffiliatePayout, { runId, affiliateId, currency })) return null;
  const owed = (await ctx.sql<Owed>(OWED, [affiliateId, null])).find(one => one.currency === currency);
  if (!owed) return null;
  const payout = Object.assign(new AffiliatePayout(), {
    id: newId(),
    runId,
    affiliateId,
    currency,
    units: owed.units,
    createdAt: ctx.now(),
  });
  await ctx.sql(
    `insert into affiliates.affiliate_payout (id, run_id, affiliate_id, amount, currency, status, created_at) values ($1, $2, $3, $4, $5, 'requested', $6)`,
    [payout.id, runId, affiliateId, owed.units, currency, ctx.now().toISOString()],
  );
  await ctx.sql(CARRIED, [payout.id, affiliateId, currency]);
  affiliate.changedAt = ctx.now();
  ctx.audit('affiliate_payout.requested', payout.id, { affiliate: affiliateId, amount: owed.units, currency, run: runId });
  return payout;
}

const { FAILED, IN_FLIGHT, PAID, REQUESTED } = AffiliatePayoutStatus;

const statusOf = ({ status }: Payout): AffiliatePayoutStatus =>
  status === 'PAID' ? PAID : status === 'FAILED' || status === 'CANCELLED' ? FAILED : IN_FLIGHT;

/** Writes what payments says of a payout; one that failed leaves its amount to the next run. */
async function settle(host: ServiceHost, { id, affiliateId }: AffiliatePayout, answer: Payout | { refused: string }): Promise<void> {
  await host.transaction(async ctx => {
    const affiliate = await lockAffiliate(ctx, affiliateId);
    const refusal = 'refused' in answer ? answer.refused : null;
    const status = 'refused' in answer ? FAILED : statusOf(answer);
    const failure = refusal ?? (('failureCode' in answer && answer.failureCode) || null);
    const settledAt = status === IN_FLIGHT ? null : ctx.now();
    const change = { status, failure, settledAt, ...('id' in answer && { payoutId: answer.id }) };
    const open = { id, status: { $in: [REQUESTED, IN_FLIGHT] } };
    if (await ctx.em.nativeUpdate(AffiliatePayout, open, change)) affiliate.changedAt = ctx.now();
    ctx.audit('affiliate_payout.told', id, { affiliate: affiliateId, status, failure });
  });
}

const referenceOf = ({ runId, affiliateId, currency }: AffiliatePayout): string => `affiliates:${runId}:${affiliateId}:${currency}`;

/** Asks payments for what a run has set aside; again after a crash, under the same reference. */
async function request(host: ServiceHost, payout: AffiliatePayout, userId: string): Promise<void> {
  const { units: amount, currency } = payout;
  await settle(host, payout, await createPayout(host, { userId, amount: { amount, currency }, reference: referenceOf(payout) }));
}

async function askAgain(host: ServiceHost, runId: string): Promise<number> {
  const left = await host.read(async ctx => {
    const payouts = await ctx.em.find(AffiliatePayout, { runId, status: REQUESTED });
    const affiliates = await ctx.em.find(Affiliate, { id: { $in: payouts.map(({ affiliateId }) => affiliateId) } });
    return payouts.map(payout => ({ payout, userId: affiliates.find(({ id }) => id === payout.affiliateId)!.userId }));
  });
  for (const { payout, userId } of left) await request(host, payout, userId);
  return left.length;
}

/** One run: whoever is owed enough and can be paid is asked for, once for each run. */
async function runPayouts(host: ServiceHost, runId: string, programId: string | null): Promise<number> {
  let asked = await askAgain(host, runId);
  for (const owed of await host.read(ctx => ctx.sql<Owed>(OWED, [null, programId]))) {
    if (!(await hasDestination(host, owed.userId))) continue; // waits for the next run
    const payout = await host.transaction(ctx => setAside(ctx, runId, owed));
    if (payout) await request(host, payout, owed.userId);
    asked += payout ? 1 : 0;
  }
  await host.transaction(ctx => ctx.em.nativeUpdate(PostingRun, { id: runId }, { posted: asked, finishedAt: ctx.now() }));
  return asked;
}

/** Works payout runs off; one that was killed goes on where it was. */
export const payoutRuns = jobQueue('affiliates', {
  name: 'affiliates.payouts',
  title: 'Payouts to affiliates',
  payload: z.object({ run_id: z.uuid(), program_id: z.uuid().nullable() }),
  policy: 'singleton',
  concurrency: 1,
  retryLimit: 20,
  run: async ({ host, payload }) => ({ asked: await runPayouts(host, payload.run_id, payload.program_id) }),
});

/** Takes a run on. */
export async function startPayoutRun(ctx: Context, { programId }: RunAffiliatePayoutsInput): Promise<PostingRun> {
  const run = Object.assign(new PostingRun(), { kind: AffiliateRunKind.PAYOUT, asOf: ctx.now(), createdAt: ctx.now() });
  ctx.em.persist(run);
  await enqueue(ctx, payoutRuns, { run_id: run.id, program_id: programId?.toLowerCase() ?? null });
  ctx.audit('affiliate_payout_run.started', run.id);
  return run;
}

/** A request that has had no answer for so long is nobody's any more: its run has given up, or was killed. */
const LOST_MS = 10 * MINUTE_MS;

/** When the oldest payout that is on its way was asked for; null: none is. */
export const earliestInFlight = (ctx: Context): Promise<Date | null> =>
  earliestOf(
    ctx,
    `select created_at as at from affiliates.affiliate_payout where status = 'in_flight'
     union all select created_at + interval '${LOST_MS / MINUTE_MS} minutes' from affiliates.affiliate_payout where status = 'requested'`,
  );

/** What has become of a payout that is on its way; one whose answer was lost is asked for again, which payments does once. */
async function followPayout({ host }: Context, payout: AffiliatePayout): Promise<void> {
  if (payout.status === REQUESTED) {
    const { userId } = await host.read(ctx => ctx.em.findOneOrFail(Affiliate, { id: payout.affiliateId }));
    return request(host, payout, userId);
  }
  const now = await payoutOf(host, payout.payoutId!);
  if (now && statusOf(now) !== IN_FLIGHT) await settle(host, payout, now);
}

/** Asks payments about payouts that are on their way, the oldest first. One that fails does not keep the others back. */
export async function followPayouts(ctx: Context, at: Date): Promise<void> {
  const lost = { status: REQUESTED, createdAt: { $lte: after(at, -LOST_MS) } };
  const open = await ctx.host.read(own =>
    own.em.find(AffiliatePayout, { $or: [{ status: IN_FLIGHT }, lost] }, { orderBy: { createdAt: 'asc' } }),
  );
  for (const payout of open)
    await followPayout(ctx, payout).catch(error => {
      ctx.log.error({ err: loggedError(error) }, 'a payout could not be followed; it is tried again');
    });
}
