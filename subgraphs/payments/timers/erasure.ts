import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { earliest } from '../../../runtime/time/due.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';
import { forgetAtProcessor } from '../commands/erasure.js';
import { BillingCustomer } from '../entities/customer.js';

/** Customers whom the processor is to forget. Source: payments 7.15. */
const customers: Timer<Context> = leasedRows({
  name: 'erased-customers',
  everySeconds: 15,
  entity: BillingCustomer,
  due: 'forgetAt',
  waiting: 'forget_at is not null',
  most: 20,
  leaseMs: 5 * MINUTE_MS,
  work: (ctx, customer) => forgetAtProcessor(ctx.host, customer),
});

/** Evidence of erased people whose dispute was open then, and is closed now. */
const CLOSED = `from payments.dispute d where d.closed_at is not null and d.evidence_sealed is not null
  and exists (select from payments.billing_customer c where c.user_id = d.user_id and c.erased_at is not null)`;

const evidence: Timer<Context> = {
  name: 'erased-evidence',
  next: earliest(`select d.closed_at as at ${CLOSED}`),
  run: async ctx => void (await ctx.sql(`update payments.dispute set evidence_sealed = null where id in (select d.id ${CLOSED})`)),
};

export const erasureTimers: readonly Timer<Context>[] = [customers, evidence];
