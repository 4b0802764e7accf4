import { until } from '../../support/until.js';
import { answered, type Intents } from './intents.js';

/** Sums of money that the processor took for each purchase, by the caller's intent. */
const CHARGES = `select s.reference_id as id, count(distinct s.id)::int as sessions, min(s.status) as status,
    count(distinct o.id) filter (where (o.data->>'captured')::bigint > 0)::int as charges
  from payments.checkout_session s left join payments.payment p on p.checkout_session_id = s.id
  left join payments.payment_attempt a on a.payment_id = p.id
  left join payments.processor_object o on o.kind = 'charge' and o.idempotency_key = a.id::text
  where s.reference_id is not null group by 1`;

/** Rows that must not be: each side of a pair says something else. */
const NEVER: Readonly<Record<string, string>> = {
  'charges that no attempt made': `select o.id from payments.processor_object o where o.kind = 'charge'
    and not exists (select from payments.payment_attempt a where a.id::text = o.idempotency_key)`,
  'attempts without an end': `select id from payments.payment_attempt where status in ('pending', 'unknown')`,
  'refunds that differ from the processor': `select r.id from payments.refund r left join payments.processor_object o on o.kind = 'refund' and o.idempotency_key = r.id::text
    where (r.status = 'succeeded') is distinct from (o.data->>'status' = 'succeeded')`,
  'payouts that differ from the processor': `select r.id from payments.payout r left join payments.processor_object o on o.kind = 'payout' and o.idempotency_key = r.id::text
    where (r.status = 'paid') is distinct from (o.data->>'status' = 'paid')`,
  'payouts that the processor made alone': `select o.id from payments.processor_object o where o.kind = 'payout'
    and not exists (select from payments.payout r where r.id::text = o.idempotency_key)`,
  'payouts that are paid and not in the books': `select id from payments.payout where status = 'paid' and not ledger_posted`,
  'invoices that differ from their payments': `select i.id from payments.invoice i where i.amount_paid <>
    (select coalesce(sum(p.amount_captured), 0) from payments.payment p where p.invoice_id = i.id and p.status = 'succeeded')`,
  'invoices that are paid twice': `select p.invoice_id as id from payments.payment p where p.status = 'succeeded' and p.invoice_id is not null
    group by 1 having count(*) > 1`,
  'payments without their money’s events': `select p.id from payments.payment p where p.status = 'succeeded' and
    (select count(*) from events.outbox e where e.type = 'payment.charged.v1' and e.data->>'payment_id' = p.id::text) <> 1`,
};

interface Charged {
  id: string;
  sessions: number;
  status: string;
  charges: number;
}

/** Each intent is one session and one charge, or none where its caller was told that it was declined. */
async function ofIntents({ world, checkouts }: Intents): Promise<string[]> {
  const rows = new Map((await world.p.sql<Charged>(CHARGES)).map(row => [row.id, row]));
  const wrong = checkouts.filter(({ id, answer }) => {
    const { sessions = 0, charges = 0, status = '' } = rows.get(id) ?? {};
    const isPaid = answer.status === 201 && status === 'complete';
    return sessions !== 1 || charges !== (isPaid ? 1 : 0) || ![201, 402].includes(answer.status);
  });
  return wrong.map(({ id, method, answer }) => `purchase with ${method}: ${answer.status}, ${JSON.stringify(rows.get(id) ?? null)}`);
}

/** What reconciliation of everything, the books included, finds. */
async function ofReconciliation({ world }: Intents): Promise<string[]> {
  const [span] = await world.p.sql<{ first: Date; last: Date }>(
    'select min(created_at) as first, max(created_at) as last from payments.processor_object',
  );
  const found: string[] = [];
  const month = 30 * 86_400_000;
  // an hour before noon, when nothing happens: a charge and its payment fall into the same period
  for (let from = span!.first.getTime() - 3_600_000; from <= span!.last.getTime(); from += month) {
    const body = { from: new Date(from).toISOString(), to: new Date(from + month).toISOString(), include_ledger: true };
    const begun = await answered(world, 'POST', '/payments/v1/admin/reconciliation/processor-storefront', body);
    if (begun.status !== 202) return [...found, `no reconciliation: ${begun.status} ${JSON.stringify(begun.body)}`];
    const read = () => world.call('GET', `/payments/v1/admin/reconciliation/runs/${begun.body.id}`);
    const run = await until('the reconciliation', read, ({ body: one }) => one.status !== 'running', 60_000);
    if (run.body.status !== 'completed') found.push(`a reconciliation ${run.body.status}`);
    const rows = await world.p.sql<{ kind: string }>('select kind from payments.reconciliation_discrepancy where run_id = $1', [
      begun.body.id,
    ]);
    found.push(...rows.map(({ kind }) => `reconciliation: ${kind}`));
  }
  return found;
}

/** Where processor, payments, invoices and books do not agree. */
export async function disagreements(intents: Intents): Promise<string[]> {
  const found: string[] = [];
  for (const [what, text] of Object.entries(NEVER)) {
    const rows = await intents.world.p.sql<{ id: string }>(text);
    if (rows.length > 0) found.push(`${what}: ${rows.length}, one is ${rows[0]!.id}`);
  }
  return [...found, ...(await ofIntents(intents)), ...(await ofReconciliation(intents))];
}
