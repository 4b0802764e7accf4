import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../runtime/request/context.js';
import { lockInvoice } from '../../subgraphs/payments/commands/dunning.js';
import { noteOverdue } from '../../subgraphs/payments/commands/invoice.js';
import { writeOffByStaff } from '../../subgraphs/payments/commands/invoice-operations.js';
import { settleInvoice } from '../../subgraphs/payments/commands/obligation.js';
import { atOnce } from '../support/locks.js';
import { freePort } from '../support/platform.js';
import { startProcess } from '../support/processes.js';
import { askedDuring } from '../support/statements.js';
import { until } from '../support/until.js';
import { DAY_MS, Subscribers, type Subscribed } from './subscribers.js';

let s: Subscribers;
beforeAll(async () => {
  s = await Subscribers.open();
});

const MANY = 200;

/** Copies of a subscription that are due at an instant, of the same customer and method. */
const COPIES = `insert into payments.billing_subscription
  select (jsonb_populate_record(null::payments.billing_subscription, to_jsonb(b) || jsonb_build_object('id', gen_random_uuid(), 'current_period_end', $2::timestamptz,
    'next_run_at', $2::timestamptz, 'next_notice_at', null, 'latest_invoice_id', null))).* from payments.billing_subscription b, generate_series(1, $3) where b.id = $1`;

/** What became of the periods that began at an instant. */
const STATE = `select count(*)::int as invoices, count(distinct i.subscription_id)::int as subscriptions, count(*) filter (where i.status = 'paid')::int as paid,
  (select count(*)::int from payments.payment p join payments.invoice x on x.id = p.invoice_id where x.period_start = $1 and p.status = 'succeeded') as payments,
  (select count(*)::int from payments.payment p join payments.invoice x on x.id = p.invoice_id where x.period_start = $1 and p.status = 'processing') as open
  from payments.invoice i where i.kind = 'period' and i.period_start = $1`;

interface State {
  invoices: number;
  subscriptions: number;
  paid: number;
  payments: number;
  open: number;
}

const stateAt = async (at: Date): Promise<State> => (await s.p.sql<State>(STATE, [at.toISOString()]))[0]!;

/** The clock at an instant without the timers of the test control: the workers have to do it. */
const setClock = (at: Date): Promise<unknown> => s.p.sql('update payments.test_clock set now = greatest(now, $1)', [at.toISOString()]);

describe('renewal', () => {
  test('bills each of some hundred subscriptions once, by two workers of which one is killed, and charges nobody twice', async () => {
    const one: Subscribed = await s.subscribe({ amount: 700, price: { subject_kind: 'service' } });
    await s.p.clock('payments', { advance: 'PT1S' });
    const due = new Date((await s.now()).getTime() + 5 * DAY_MS);
    await s.p.sql(COPIES, [one.id, due.toISOString(), MANY]);
    const other = startProcess({ ...s.p.env, PORT: String(await freePort()), ROLES: 'subgraphs,gateway,scheduler' });
    try {
      await setClock(due);
      await until(
        'some of them to be billed',
        () => stateAt(due),
        ({ invoices }) => invoices > MANY / 5,
      );
    } finally {
      await other.end('SIGKILL');
    }
    await until(
      'all of them to be billed',
      () => stateAt(due),
      ({ invoices }) => invoices === MANY,
      90_000,
    );
    await s.p.clock('payments', { advance: 'PT2M' }); // what the killed one had asked for is looked after
    const state = await until(
      'all of them to be paid',
      () => stateAt(due),
      ({ paid }) => paid === MANY,
      60_000,
    );
    expect(state).toEqual({ invoices: MANY, subscriptions: MANY, paid: MANY, payments: MANY, open: 0 });
    const charges = await s.p.sql(
      `select a.id from payments.payment_attempt a join payments.payment p on p.id = a.payment_id join payments.invoice i on i.id = p.invoice_id
       where i.period_start = $1 and a.status = 'succeeded'`,
      [due.toISOString()],
    );
    expect(charges).toHaveLength(MANY);
    expect((await s.events('payment.charged.v1', one.userId)).length).toBe(MANY + 1);
    expect((await s.events('payment.paid.v1', one.userId)).length).toBe(MANY + 1);
    const rest =
      'update payments.billing_subscription set next_run_at = null, next_notice_at = null where customer_id in (select id from payments.billing_customer where user_id = $1)';
    await s.p.sql(rest, [one.userId]); // the other tests move the clock by months
  }, 240_000);

  test('reads what it needs once, and writes its invoice with the number', async () => {
    const userId = await s.shop.stranger();
    const method = await s.attach(userId, 'pm_card_visa');
    const one = await s.subscribe({ amount: 800, userId, more: { payment_method_id: method } });
    const [of] = await s.p.sql<{ customer: string }>('select customer_id as customer from payments.billing_subscription where id = $1', [
      one.id,
    ]);
    await s.at(new Date(Date.parse(one.body.current_period_end) - DAY_MS).toISOString()); // it has been announced
    const asked = await askedDuring(s.p, () => s.at(one.body.current_period_end));
    const count = (begin: string, ...parts: string[]): number =>
      asked.filter(({ text, values }) => text.startsWith(begin) && parts.every(part => `${text} ${values.join(' ')}`.includes(part)))
        .length;
    expect(await s.read(one)).toMatchObject({ status: 'active', latest_invoice: { status: 'paid' } });
    const [, invoice] = await s.invoices(one.userId);
    expect({
      price: count('select', 'billing_price', one.priceId),
      customer: count('select', '"billing_customer"', of!.customer),
      method: count('select', '"payment_method"', of!.customer),
      subscriptionUpdates: count('update "payments"."billing_subscription"', one.id),
      invoices: count('insert into "payments"."invoice" ', one.id, invoice.number),
      invoiceUpdates: count('update "payments"."invoice"', invoice.id),
    }).toEqual({ price: 1, customer: 1, method: 1, subscriptionUpdates: 1, invoices: 1, invoiceUpdates: 1 });
  });

  test('whose charge is decided later is paid by the call of the processor', async () => {
    const one = await s.subscribe({ amount: 850 });
    const method = await s.attach(one.userId, 'sbx_async_success');
    await s.p.sql('update payments.billing_subscription set payment_method_id = $2 where id = $1', [one.id, method]);
    await s.at(one.body.current_period_end);
    await until(
      'the invoice to be paid',
      () => s.read(one),
      ({ latest_invoice }) => latest_invoice.status === 'paid',
      20_000,
    );
    expect(await s.events('payment.charged.v1', one.userId)).toHaveLength(2);
  });

  test('bills each missed period once, in order, and at most one an hour', async () => {
    const one = await s.subscribe({ amount: 500, price: { subject_kind: 'service', recurring: { interval: 'day', interval_count: 1 } } });
    const [first] = await s.p.sql<{ at: Date }>('select current_period_end as at from payments.billing_subscription where id = $1', [
      one.id,
    ]);
    await setClock(new Date(first!.at.getTime() + 2.5 * DAY_MS)); // three periods have begun meanwhile
    await until(
      'the first of them',
      () => s.invoices(one.userId),
      invoices => invoices.length === 2,
    );
    const started = (await s.now()).getTime();
    await s.p.clock('payments', { advance: 'PT59M' });
    expect(await s.invoices(one.userId)).toHaveLength(2);
    await s.p.clock('payments', { advance: 'PT3H' });
    const invoices = await s.invoices(one.userId);
    expect(invoices.map(({ period_start }) => Date.parse(period_start) - first!.at.getTime())).toEqual([-DAY_MS, 0, DAY_MS, 2 * DAY_MS]);
    const made = invoices.slice(1).map(({ created_at }) => Date.parse(created_at) - started);
    expect(made.map((at, n) => at >= n * 3_600_000 && at < n * 3_600_000 + 60_000)).toEqual([true, true, true]);
  });

  test('is announced 7 days before, the end of a trial 3 days before, and nothing is told of what ends', async () => {
    const [renewed, tried, ended] = [
      await s.subscribe({ amount: 900 }),
      await s.subscribe({ amount: 900, price: { trial_days: 14 } }),
      await s.subscribe({ amount: 900 }),
    ];
    expect(tried.body).toMatchObject({ status: 'trialing', latest_invoice: null });
    expect(await s.act(ended, 'cancel', { at: 'period_end' })).toMatchObject({
      status: 200,
      body: { cancel_at_period_end: true, status: 'active' },
    });
    await s.at(tried.body.trial_ends_at);
    expect(await s.events('payment.scheduled.v1', tried.userId)).toMatchObject([
      { kind: 'trial_end', charge_at: tried.body.trial_ends_at, amount: 900 },
    ]);
    expect(await s.read(tried)).toMatchObject({ status: 'active', latest_invoice: { status: 'paid' } });
    await s.at(renewed.body.current_period_end);
    expect(await s.events('payment.scheduled.v1', renewed.userId)).toMatchObject([
      { kind: 'renewal', charge_at: renewed.body.current_period_end },
    ]);
    expect(await s.events('payment.scheduled.v1', ended.userId)).toEqual([]);
    expect(await s.read(ended)).toMatchObject({ status: 'cancelled' });
    expect(await s.events('subscription.cancelled.v1', ended.userId)).toMatchObject([{ at_period_end: true, involuntary: false }]);
  });
});

describe('two overdue invoices of a customer', () => {
  const payments = () => s.p.host('payments');
  type Work = (ctx: Context) => Promise<unknown>;
  const together = (first: Work, second: Work): Promise<void> =>
    atOnce({ p: s.p, host: payments(), waitsIn: 'billing_customer' }, first, second);

  /** Two invoices that were paid for are overdue after all. */
  async function overdue(): Promise<{ customer: string; ids: [string, string] }> {
    const { userId } = await s.subscribe({ amount: 300 });
    await s.subscribe({ amount: 400, userId, price: { subject_kind: 'service' } });
    const found = await s.p.sql<{ id: string; customer: string }>(
      `update payments.invoice set status = 'past_due', amount_paid = 0, first_purchase = false where user_id = $1 returning id, customer_id as customer`,
      [userId],
    );
    const { customer } = found[0]!;
    await s.p.sql('update payments.billing_customer set delinquent = true where id = $1', [customer]);
    return { customer, ids: [found[0]!.id, found[1]!.id] };
  }

  const settle = (id: string) => async (ctx: Context) => settleInvoice(ctx, await lockInvoice(ctx, id), null);
  const owes = async (customer: string): Promise<unknown> =>
    (await s.p.sql('select delinquent from payments.billing_customer where id = $1', [customer]))[0]!.delinquent;

  test('settled at once leave nothing owed', async () => {
    const { customer, ids } = await overdue();
    await together(settle(ids[0]), settle(ids[1]));
    expect(await owes(customer)).toBe(false);
  });

  test('written off at once, or one while the other is settled, leave nothing owed', async () => {
    const writeOff = (id: string) => (ctx: Context) => writeOffByStaff(ctx, { id, reason: 'lost' });
    const [both, one] = [await overdue(), await overdue()];
    await together(writeOff(both.ids[0]), writeOff(both.ids[1]));
    await together(settle(one.ids[0]), writeOff(one.ids[1]));
    expect([await owes(both.customer), await owes(one.customer)]).toEqual([false, false]);
  });

  test.each([
    ['first', false],
    ['second', true],
  ])('of which the %s settles while the other falls due leave something owed', async (_which, isSecond) => {
    const { customer, ids } = await overdue();
    await s.p.sql(`update payments.invoice set status = 'open' where id = $1`, [ids[1]]);
    const fallDue = async (ctx: Context) => {
      await ctx.sql(`update payments.invoice set status = 'past_due' where id = $1`, [ids[1]]);
      await noteOverdue(ctx, customer);
    };
    await (isSecond ? together(fallDue, settle(ids[0])) : together(settle(ids[0]), fallDue));
    expect(await owes(customer)).toBe(true);
  });
});
