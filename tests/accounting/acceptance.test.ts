import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { commissionPosted, commissionReversed, earningsAccrued } from '../../events/catalogue/affiliates.js';
import { cashSpent } from '../../events/catalogue/cash.js';
import { paymentCharged, paymentDisputeCreated, paymentInvoicePaid, paymentPaid } from '../../events/catalogue/payments.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { chargedOf, clawedBackOf, accruedOf, commissionOf, disputedOf, invoiceOf, paidOf, spentOf } from './facts.js';
import { BANK, cashOf, credit, creditOf, debit, earningsOf, Ledger } from './ledger.js';

const DEFERRED = 'liabilities:deferred_revenue:usd';
const INCOME = 'income:sales:subscription:usd';
const TRANSIT = 'equity:fx:usd';

let l: Ledger;
beforeAll(async () => {
  l = await Ledger.open();
});

const count = async (text: string, ...params: unknown[]): Promise<number> =>
  (await l.p.sql<{ n: number }>(`select count(*)::int as n from accounting.${text}`, params))[0]!.n;
const statuses = (answers: { status: number }[]): number[] => answers.map(one => one.status).sort((a, b) => a - b);

describe('one transaction', () => {
  test('case 1: 100 debit against 90 credit is a 400, and nothing is stored', async () => {
    const before = await count('ledger_transaction');
    const answer = await l.post([debit(BANK, 100), credit(cashOf(randomUUID()), 90)]);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/entries' }] } });
    expect(await count('ledger_transaction')).toBe(before);
  });

  test('case 2: the same posting twice is 201 and 200 with one id, with another amount 422', async () => {
    const user = randomUUID();
    const body = l.body([debit(BANK, 100), credit(cashOf(user), 100)]);
    const [first, second] = [await l.call('POST', '/v1/transactions', body), await l.call('POST', '/v1/transactions', body)];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.id).toBe(first.body.id);
    expect(first.headers.location).toBe(`/accounting/v1/transactions/${first.body.id}`);
    const other = { ...body, entries: [debit(BANK, 101), credit(cashOf(user), 101)] };
    expect(await l.call('POST', '/v1/transactions', other)).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    expect(await l.balance(cashOf(user))).toBe(100);
  });

  test('case 3: of 20 parallel debits of 100 on 1000 with floor 0, 10 are booked and 10 are 409; the running chain has no gap', async () => {
    const code = cashOf(randomUUID());
    await l.fund(code, 1000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => l.post([debit(code, 100), credit(BANK, 100)])));
    expect(statuses(answers)).toEqual([...Array<number>(10).fill(201), ...Array<number>(10).fill(409)]);
    for (const { body } of answers.filter(one => one.status === 409)) expect(body.reason).toBe('insufficient_funds');
    const account = await l.account(code);
    expect(account.balance.amount).toBe(0);
    const entries = (await l.get(`/v1/accounts/${account.id}/entries?limit=100`)).body.data;
    expect(entries.map((one: any) => one.balance_after.amount)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  });

  test('case 4: a transaction is reversed once, and its reversal never; both can be read, and one event tells it', async () => {
    const code = cashOf(randomUUID());
    const id = await l.fund(code, 700);
    const reverse = (of: string) => l.call('POST', `/v1/transactions/${of}/reverse`, { reason: 'booked twice' });
    const first = await reverse(id);
    expect([first.status, (await reverse(id)).status, (await reverse(first.body.id)).status]).toEqual([201, 409, 409]);
    expect(await l.balance(code)).toBe(0);
    expect((await l.get(`/v1/transactions/${id}`)).body).toMatchObject({ status: 'posted', reversed_by: { id: first.body.id } });
    expect((await l.get(`/v1/transactions/${first.body.id}`)).body).toMatchObject({ kind: 'reversal', reverses: { id } });
    const told = await l.p.sql(
      "select type from events.outbox where type in ('accounting.transaction.reversed.v1', 'accounting.transaction.posted.v1') and data::text like $1",
      [`%${first.body.id}%`],
    );
    expect(told.map(one => one.type)).toEqual(['accounting.transaction.reversed.v1']);
  });
});

describe('pending transactions', () => {
  test('case 5: what is reserved cannot be spent; posting a part releases the rest', async () => {
    const user = randomUUID();
    const wallet = cashOf(user);
    await l.fund(wallet, 1000);
    const pending = await l.post([debit(wallet, 700), credit(TRANSIT, 700)], { pending: true });
    expect(pending).toMatchObject({ status: 201, body: { kind: 'pending', status: 'pending' } });
    expect(await l.post([debit(wallet, 400), credit(TRANSIT, 400)])).toMatchObject({ status: 409, body: { reason: 'insufficient_funds' } });
    const posted = await l.call('POST', `/v1/transactions/${pending.body.id}/post`, { amount: { amount: 500, currency: 'USD' } });
    expect(posted).toMatchObject({ status: 201, body: { kind: 'post_pending', pending_of: { id: pending.body.id } } });
    expect(await l.wallets(user)).toMatchObject([{ balance: { amount: 500 }, available: { amount: 500 }, pending: { amount: 0 } }]);
    expect((await l.get(`/v1/transactions/${pending.body.id}`)).body).toMatchObject({
      status: 'posted',
      resolved_by: { id: posted.body.id },
    });
  });

  test('case 6: a pending transaction whose hour is over is EXPIRED, and cannot be posted', async () => {
    const code = cashOf(randomUUID());
    await l.fund(code, 1000);
    const now = (await l.p.sql<{ now: Date }>('select now from accounting.test_clock'))[0]!.now.getTime();
    const pending = await l.post([debit(code, 700), credit(TRANSIT, 700)], {
      pending: true,
      expires_at: new Date(now + 3_600_000).toISOString(),
    });
    await l.clock({ advance: 'PT2H' });
    expect((await l.get(`/v1/transactions/${pending.body.id}`)).body.status).toBe('expired');
    expect(await l.available(code)).toBe(1000);
    expect(await l.call('POST', `/v1/transactions/${pending.body.id}/post`, {})).toMatchObject({ status: 409 });
    const other = await l.post([debit(code, 700), credit(TRANSIT, 700)], { pending: true });
    await l.p.sql("update accounting.test_clock set now = now + interval '7 days'"); // no timer comes by
    expect(await l.call('POST', `/v1/transactions/${other.body.id}/post`, {})).toMatchObject({ status: 409 });
    expect(await l.balance(code)).toBe(1000);
  });
});

describe('events', () => {
  test.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
    'case 7: charge, payment and spending, each told three times in the order %j, are three transactions that clear',
    async order => {
      const [user, payment, obligation, spend] = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
      const events = [
        [paymentCharged, chargedOf(payment, 700, { fee_amount: 30 })],
        [paymentPaid, paidOf(obligation, { payment_id: payment, total_amount: 700, cash_amount: 300, subtotal_amount: 1000 })],
        [cashSpent, spentOf(spend, 300, obligation)],
      ] as const;
      const before = await Promise.all(['payments', 'cash'].map(name => l.balance(`liabilities:clearing:${name}:usd`)));
      for (let round = 0; round < 3; round++) for (const at of order) await l.emit(events[at]![0], events[at]![1] as never, user);
      const booked = () => count('inbox i where exists (select 1 from events.outbox o where o.id = i.event_id and o.user_id = $1)', user);
      await until('nine events', booked, n => n === 9);
      expect(await count('ledger_transaction where user_id = $1', user)).toBe(3);
      expect(await Promise.all(['payments', 'cash'].map(name => l.balance(`liabilities:clearing:${name}:usd`)))).toEqual(before);
      expect((await l.trialBalance()).balanced).toBe(true);
    },
  );

  test('case 16: a payout guards its own entry, and a claw-back takes the wallet below zero', async () => {
    const [user, commission] = [randomUUID(), randomUUID()];
    await l.told(earningsAccrued, accruedOf(commission, 500), user);
    await l.told(commissionPosted, commissionOf(commission, 500), user);
    expect(await l.balance(earningsOf(user))).toBe(500);
    const payout = [debit(earningsOf(user), 800, { min_available: 0 }), credit('assets:processor:sandbox:usd', 800)];
    expect(await l.post(payout, { pending: true })).toMatchObject({ status: 409, body: { reason: 'insufficient_funds' } });
    await l.told(commissionReversed, clawedBackOf(commission, 700), user);
    expect(await l.balance(earningsOf(user))).toBe(-200);
  });

  test('case 19: an inquiry books nothing; when it becomes a chargeback that is booked once', async () => {
    const [user, dispute, payment] = [randomUUID(), randomUUID(), randomUUID()];
    await l.told(paymentDisputeCreated, disputedOf(dispute, payment, 900, 'warning_needs_response'), user);
    expect(await count('ledger_transaction where source_id = $1', dispute)).toBe(0);
    for (let times = 0; times < 2; times++) await l.told(paymentDisputeCreated, disputedOf(dispute, payment, 900, 'needs_response'), user);
    expect(await count('ledger_transaction where source_id = $1', dispute)).toBe(1);
  });

  test("case 20: an event an hour ahead of accounting's clock is booked at its now", async () => {
    const [user, grant] = [randomUUID(), randomUUID()];
    const now = (await l.p.sql<{ now: Date }>('select now from accounting.test_clock'))[0]!.now;
    await l.told(cashSpent, spentOf(grant, 10, randomUUID()), user, new Date(now.getTime() + 3_600_000).toISOString());
    const [row] = await l.p.sql<{ effective_at: Date }>('select effective_at from accounting.ledger_transaction where source_id = $1', [
      grant,
    ]);
    expect(row!.effective_at).toEqual(now);
  });
});

describe('batches and wallets', () => {
  test.each([
    [false, ['created', 'rejected', 'created'], 2],
    [true, ['rejected', 'rejected', 'rejected'], 0],
  ])('case 11: of three with an unbalanced second one, atomic %s: %j', async (atomic, results, created) => {
    const code = cashOf(randomUUID());
    const good = () => l.body([debit(BANK, 10), credit(code, 10)]);
    const transactions = [good(), l.body([debit(BANK, 10), credit(code, 9)]), good()];
    const answer = await l.call('POST', '/v1/transactions/batch', { transactions, atomic });
    expect(answer.status).toBe(200);
    expect(answer.body.data.map((one: any) => one.result)).toEqual(results);
    expect(await count('ledger_entry e join accounting.ledger_account a on a.id = e.account_id where a.code = $1', code)).toBe(created);
    expect(await l.balance(code)).toBe(created * 10);
  });

  test("case 12: user B does not find A's wallet", async () => {
    const [a, b] = [DEMO, DEMO2];
    await l.fund(cashOf(a), 100);
    const [{ id }] = (await l.wallets(a)) as [{ id: string }];
    const read = async (user: string) =>
      (await l.p.rest('GET', `/accounting/v1/wallets/${id}/entries`, { token: await l.userToken(user) })).status;
    expect([await read(a), await read(b)]).toEqual([200, 404]);
  });
});

describe('recognition', () => {
  const DAY = 86_400_000;
  const now = async (): Promise<number> => (await l.p.sql<{ now: Date }>('select now from accounting.test_clock'))[0]!.now.getTime();
  const iso = (ms: number): string => new Date(ms).toISOString();
  const balances = async (...codes: string[]): Promise<number[]> => Promise.all(codes.map(code => l.balance(code)));
  const since = (before: number[], after: number[]): number[] => after.map((one, at) => one - before[at]!);

  test('case 13: of an annual subscription of 120.00, 73 of 365 days are 24.00 of income', async () => {
    const [user, invoice, subscription] = [randomUUID(), randomUUID(), randomUUID()];
    const before = await balances(DEFERRED, INCOME);
    const from = await now();
    const about = { invoice_id: invoice, subscription_id: subscription };
    await l.told(
      paymentPaid,
      paidOf(invoice, { ...about, obligation_type: 'invoice', purpose: 'subscription', total_amount: 12_000 }),
      user,
    );
    await l.told(
      paymentInvoicePaid,
      invoiceOf(invoice, {
        subscription_id: subscription,
        total_amount: 12_000,
        period_start: iso(from),
        period_end: iso(from + 365 * DAY),
      }),
      user,
    );
    await l.clock({ advance: 'P73D' });
    expect(since(before, await balances(DEFERRED, INCOME))).toEqual([9_600, 2_400]);
  });

  test.each([[false], [true]])(
    'case 17 and 18: tax apart, half earned in the middle, a credit cuts the rest; invoice first: %s',
    async invoiceFirst => {
      const [user, invoice, subscription] = [randomUUID(), randomUUID(), randomUUID()];
      await l.clock({ advance: 'P400D' }); // what other cases have opened is over
      const codes = ['liabilities:tax:us-ca:usd', DEFERRED, INCOME];
      const before = await balances(...codes);
      const from = await now();
      const paid = paidOf(invoice, {
        obligation_type: 'invoice',
        invoice_id: invoice,
        subscription_id: subscription,
        purpose: 'subscription',
        tax_amount: 1_000,
        tax_region: 'us-ca',
        total_amount: 12_000,
      });
      const timed = invoiceOf(invoice, {
        subscription_id: subscription,
        total_amount: 12_000,
        period_start: iso(from),
        period_end: iso(from + 30 * DAY),
      });
      const tell = [() => l.told(paymentPaid, paid, user), () => l.told(paymentInvoicePaid, timed, user)];
      for (const one of invoiceFirst ? tell.reverse() : tell) await one();
      await l.clock({ advance: 'P15D' });
      expect(since(before, await balances(...codes))).toEqual([1_000, 5_500, 5_500]);

      const cut = debit(DEFERRED, 2_750, { recognition_cut: { key: invoice, amount: 2_750 } });
      expect((await l.post([cut, credit(creditOf(user), 2_750)])).status).toBe(201);
      await l.clock({ advance: 'P15D' });
      expect(since(before, await balances(...codes))).toEqual([1_000, 0, 8_250]);
      expect(await l.balance(creditOf(user))).toBe(2_750);
    },
  );
});
