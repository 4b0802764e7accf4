import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { BACK_OFFICE, PAYMENT_READERS } from '../entities/access.js';
import { Payment } from '../entities/payment.js';
import { TimelineSource, type PaymentTimeline, type TimelineEntry } from '../entities/timeline.js';
import { toldByOthers } from '../ports/timeline-partners.js';
import { obligationFacts } from './obligation-facts.js';
import { ownRows } from './own-rows.js';

const UTC = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Everything of our own, in no order. `$1`: the payment. */
const OWN = `
select ${UTC('created_at')} as at, 'payment_created' as kind, id::text, amount::float8 as amount from payments.payment where id = $1
union all select ${UTC('captured_at')}, 'payment_captured', id::text, amount_captured::float8 from payments.payment where id = $1 and captured_at is not null
union all select ${UTC('started_at')}, 'attempt_started', id::text, amount::float8 from payments.payment_attempt where payment_id = $1
union all select ${UTC('settled_at')}, 'attempt_' || status, id::text, null from payments.payment_attempt where payment_id = $1 and settled_at is not null
union all select ${UTC('created_at')}, 'refund_created', id::text, (amount + cash_returned + credit_returned)::float8 from payments.refund where payment_id = $1
union all select ${UTC('settled_at')}, 'refund_' || status, id::text, (amount + cash_returned + credit_returned)::float8 from payments.refund where payment_id = $1 and settled_at is not null
union all select ${UTC('opened_at')}, 'dispute_opened', id::text, amount::float8 from payments.dispute where payment_id = $1
union all select ${UTC('closed_at')}, 'dispute_' || status, id::text, amount::float8 from payments.dispute where payment_id = $1 and closed_at is not null`;

/** Calls of the processor about the charge. `$1`: its id there. */
const TOLD = `select ${UTC('received_at')} as at, type as kind, id::text, null::float8 as amount from payments.processor_event where object_ref = $1`;

interface Row {
  at: string;
  kind: string;
  id: string;
  amount: number | null;
}

const entriesOf = (rows: readonly Row[], source: TimelineSource, currency: string): TimelineEntry[] =>
  rows.map(({ at, amount, ...row }) => ({ ...row, source, at: new Date(at), amount: amount === null ? null : { amount, currency } }));

const rule = ruleOf(BACK_OFFICE);

/** Ids under which the books may have something about a payment. */
async function sourcesOf(ctx: Context, paymentId: string, obligationId: string | null): Promise<string[]> {
  const text = `select id::text from payments.refund where payment_id = $1 union all select id::text from payments.dispute where payment_id = $1`;
  const rows = await ctx.sql<{ id: string }>(text, [paymentId]);
  return [...new Set([paymentId, ...(obligationId ? [obligationId] : []), ...rows.map(({ id }) => id)])];
}

/** Everything that happened to a payment, oldest first; members see nothing of the processor. @throws Problem not_found. Source: payments 9.1. */
export async function timelineOf(ctx: Context, id: string): Promise<PaymentTimeline> {
  const payment = await requireRow(ctx, Payment, { id, ...ownRows(ctx, PAYMENT_READERS) });
  const { currency, processorRef, userId } = payment;
  const own = entriesOf(await ctx.sql<Row>(OWN, [payment.id]), TimelineSource.PAYMENTS, currency);
  const isShown = processorRef !== null && mayAccess(rule, ctx.caller);
  const told = isShown ? entriesOf(await ctx.sql<Row>(TOLD, [processorRef]), TimelineSource.PROCESSOR, currency) : [];
  const { obligation_id: obligationId } = await obligationFacts(ctx, payment);
  const others = await toldByOthers(ctx, { userId, obligationId, sourceIds: await sourcesOf(ctx, payment.id, obligationId) });
  const entries = [...own, ...told, ...others.entries].toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return { paymentId: payment.id, entries, omitted: others.omitted };
}
