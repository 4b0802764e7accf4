import { lastOfTransaction } from '../../../../events/prepared.js';
import type { ServiceHost } from '../../../../runtime/request/context.js';
import { CommsMessage } from '../../entities/message.js';
import { settleUnknown } from './unknown.js';

/** Messages of one claim. Source: comms 3. */
export const MOST = 50;

/** Database time for which a claim is kept: longer than 50 calls at their deadlines. Sign-in is called ten at once, and waits less. */
const leaseSeconds = (host: ServiceHost, lane: number): number =>
  Number(host.config.setting('COMMS_LEASE_SECONDS') ?? (lane === 0 ? 60 : 300));

/**
 * Of one person and thing the earlier message goes first: "shipped" never overtakes "placed". What is scheduled for later holds nothing up.
 */
const CLAIM = `
with due as (
  select id from comms.message m where lane = $1 and status in ('pending', 'scheduled', 'queued') and next_at <= $2
    and (lease_until is null or lease_until < clock_timestamp())
    and (entity_id is null or not exists (
      select 1 from comms.message e where e.entity_type = m.entity_type and e.entity_id = m.entity_id and e.user_id = m.user_id and e.channel = m.channel
        and e.id < m.id and (e.status in ('queued', 'sending') or (e.status = 'pending' and e.next_at <= $2))))
  order by next_at, id limit $3 for update skip locked)
update comms.message m set lease_until = clock_timestamp() + make_interval(secs => $4) from due where m.id = due.id returning m.id`;

/** Claims what is due in a lane. Each claim is a short transaction; what is done with it is outside of it. */
export const claim = (host: ServiceHost, lane: number, most = MOST): Promise<string[]> =>
  host.transaction(async ctx => {
    const rows = await ctx.sql<{ id: string }>(lastOfTransaction(CLAIM), [lane, ctx.now().toISOString(), most, leaseSeconds(host, lane)]);
    return rows.map(({ id }) => id);
  });

/** What waits first in a lane, which the index has in front whatever is scheduled behind it, and what a lost worker left behind. */
export const NEXT_DUE = `
(select next_at as at from comms.message where lane = $1 and status in ('pending', 'scheduled', 'queued')
    and (lease_until is null or lease_until < clock_timestamp()) order by next_at, id limit 1)
union all select next_at from comms.message where lane = $1 and status = 'sending' and lease_until < clock_timestamp()`;

/** Sendings whose worker is gone: begun once more where that does no harm, else given up. Source: comms 3, outcome unknown. */
export const recover = (host: ServiceHost, lane: number): Promise<number> =>
  host.transaction(async ctx => {
    const rows = await ctx.sql<{ id: string }>(
      `select id from comms.message where status = 'sending' and lane = $1 and lease_until < clock_timestamp() order by id limit ${MOST} for update skip locked`,
      [lane],
    );
    if (rows.length === 0) return 0;
    const lost = await ctx.em.find(CommsMessage, { id: { $in: rows.map(({ id }) => id) } });
    for (const message of lost) settleUnknown(ctx, message, ctx.now());
    return lost.length;
  });
