import type { Context } from '../../../runtime/request/context.js';
import { internalRequest } from '../../../runtime/request/request.js';
import { ACTIVATION_HOURS } from '../rules/states.js';

/** Decisions closed in one transaction. Source: intelligence 7.3.4. */
const BATCH = 1000;

interface Closing {
  /** Alias-free condition on what is due; `$1` is now. */
  due: string;
  order: string;
  to: 'expired_unjoined' | 'discarded';
}

/** Strictly after the deadline: a decision at its deadline may still be joined. */
const EXPIRING: Closing = { due: `status = 'pending' and matures_at < $1::timestamptz`, order: 'matures_at', to: 'expired_unjoined' };
/** Never shown within a day: neither joined nor counted. */
const LAPSING: Closing = {
  due: `status = 'deferred' and decided_at < $1::timestamptz - interval '${ACTIVATION_HOURS} hours'`,
  order: 'decided_at',
  to: 'discarded',
};

async function closeBatch(ctx: Context, { due, order, to }: Closing, now: Date, tickId: string): Promise<number> {
  return ctx.host.transaction(
    async tx => {
      const rows = await tx.sql(
        `with due as (select id from ${tx.schema}.decision where ${due} order by ${order} limit ${BATCH} for update)
       update ${tx.schema}.decision d set status = '${to}', closed_at = $1::timestamptz from due where d.id = due.id returning 1`,
        [now.toISOString()],
      );
      if (rows.length) tx.audit(`decision.${to}`, null, { tick: tickId, decisions: rows.length });
      return rows.length;
    },
    internalRequest(ctx.caller, ctx.request.id),
  );
}

async function close(ctx: Context, closing: Closing, now: Date, tickId: string): Promise<number> {
  let closed = 0;
  for (let batch = BATCH; batch === BATCH; closed += batch) batch = await closeBatch(ctx, closing, now, tickId);
  return closed;
}

/** Closes the join windows that have passed. Source: spec 1, Intelligence loop 2. */
export async function monitor(ctx: Context, now: Date, tickId: string): Promise<Record<string, number>> {
  return { expired_unjoined: await close(ctx, EXPIRING, now, tickId), discarded: await close(ctx, LAPSING, now, tickId) };
}
