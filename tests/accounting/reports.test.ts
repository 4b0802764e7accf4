import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { cashGranted } from '../../events/catalogue/cash.js';
import { paymentCharged } from '../../events/catalogue/payments.js';
import { DEMO } from '../support/platform.js';
import { chargedOf, grantedOf } from './facts.js';
import { BANK, cashOf, credit, creditOf, debit, Ledger } from './ledger.js';

let l: Ledger;
beforeAll(async () => {
  l = await Ledger.open({ env: {} }, '2026-10-15T00:00:00.000Z');
  await l.get('/v1/periods'); // the month before is there, and open
  const october = { effective_at: '2026-10-10T12:00:00.000Z' };
  await l.post([debit(BANK, 10_000), credit('income:sales:order:usd', 10_000)], october);
  await l.post([debit('expenses:promotions:usd', 1_500), credit(cashOf(DEMO), 1_500)], october);
  await l.post([debit('contra_income:refunds:usd', 400), credit(BANK, 400)], october);
  await l.post([debit('assets:bank:eur', 70), credit('liabilities:gifts:eur', 70)], october);
});

const amount = (value: number, currency = 'USD') => ({ amount: value, currency });
const periodOf = async (name: string): Promise<any> => (await l.get('/v1/periods')).body.data.find((one: any) => one.name === name);

describe('reports', () => {
  test('the trial balance of a currency balances, and comes from entries', async () => {
    const report = await l.trialBalance();
    expect(report).toMatchObject({ balanced: true, total_debits: amount(11_500), total_credits: amount(11_500) });
    expect(report.lines.map((one: any) => [one.account.code.split(':')[1], one.debit.amount, one.credit.amount])).toContainEqual([
      'bank',
      9_600,
      0,
    ]);
    await l.p.sql(`update accounting.ledger_account set posted_debits = posted_debits + 5 where code = '${BANK}'`);
    expect((await l.trialBalance()).total_debits).toEqual(amount(11_500));
    const look = await l.call('POST', '/v1/admin/rebuild-balances', { dry_run: true });
    expect(look.body.drifted).toEqual([{ account_id: expect.any(String), cached: amount(9_605), computed: amount(9_600) }]);
    expect((await l.call('POST', '/v1/admin/rebuild-balances', { dry_run: false })).body.drifted).toHaveLength(1);
    expect((await l.call('POST', '/v1/admin/rebuild-balances', {})).body.drifted).toEqual([]);
    expect(await l.balance(BANK)).toBe(9_600);
  });

  test('the income statement sums income less refunds, and expenses; also as CSV', async () => {
    const path = '/v1/reports/income-statement?from=2026-10-01T00:00:00.000Z&to=2026-11-01T00:00:00.000Z';
    expect((await l.get(path)).body.sections).toMatchObject([
      { currency: 'USD', total_income: amount(9_600), total_expenses: amount(1_500), net_income: amount(8_100) },
    ]);
    const csv = await l.call('GET', path, undefined, { accept: 'text/csv' });
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.body.split('\r\n')).toEqual([
      'section,code,name,amount,currency',
      'income,contra_income:refunds:usd,contra income refunds,-400,USD',
      'income,income:sales:order:usd,income sales order,10000,USD',
      'expenses,expenses:promotions:usd,expenses promotions,1500,USD',
      '',
    ]);
    expect((await l.get('/v1/reports/income-statement?from=2026-10-11T00:00:00.000Z&to=2026-11-01T00:00:00.000Z')).body.sections).toEqual(
      [],
    );
    expect((await l.get('/v1/reports/income-statement?from=2026-11-01T00:00:00.000Z&to=2026-10-01T00:00:00.000Z')).status).toBe(400);
  });

  test('in the balance sheet assets are liabilities, equity and earnings, by currency', async () => {
    const { body } = await l.get('/v1/reports/balance-sheet');
    for (const section of body.sections) expect(section.total_assets).toEqual(section.total_liabilities_and_equity);
    expect(body.sections.map((one: any) => [one.currency, one.total_assets.amount])).toEqual([
      ['EUR', 70],
      ['USD', 9_600],
    ]);
    expect((await l.call('GET', '/v1/reports/balance-sheet', undefined, { accept: 'text/csv' })).body).toMatch(/equity,retained_earnings/);
    expect((await l.get('/v1/reports/balance-sheet?as_of=2031-01-01T00:00:00.000Z')).status).toBe(400);
  });

  test('a balance is explained by the newest sources that make it up', async () => {
    const code = creditOf(randomUUID());
    const [first, second, third] = [await l.fund(code, 100), await l.fund(code, 200), await l.fund(code, 50)];
    await l.call('POST', `/v1/transactions/${third}/reverse`, { reason: 'an error' });
    await l.post([debit(code, 150), credit(BANK, 150)]);
    const { id } = await l.account(code);
    const { body } = await l.get(`/v1/accounts/${id}/explain`);
    expect(body.balance).toEqual(amount(150));
    expect(body.sources.map((one: any) => [one.transaction_id, one.amount.amount])).toEqual([[second, 150]]);
    expect(first).not.toBe(second);
  });

  test('what does not clear within 24 hours is listed', async () => {
    const payment = randomUUID();
    await l.told(paymentCharged, chargedOf(payment, 900), randomUUID(), '2026-10-15T00:00:00.000Z');
    expect((await l.get('/v1/reports/clearing-exceptions')).body.data).toEqual([]);
    await l.clock({ advance: 'P2D' });
    expect((await l.get('/v1/reports/clearing-exceptions')).body.data).toMatchObject([{ flow_id: payment, amount: amount(900) }]);
  });

  test('a preview shows what the event would book, by the same rule', async () => {
    const preview = (event_type: string, data: object) =>
      l.call('POST', '/v1/admin/posting-rules/preview', { event_type, data, user_id: DEMO });
    const grant = randomUUID();
    const shown = await preview('cash.granted.v1', grantedOf(grant, 40));
    expect(shown.body).toMatchObject({ rule_version: 1, source: { service: 'cash', type: 'cash.granted', id: grant } });
    await l.told(cashGranted, grantedOf(grant, 40), DEMO);
    const [booked] = (await l.get(`/v1/transactions?source_id=${grant}`)).body.data;
    const plain = (entries: any[]) => entries.map(one => [one.account_code ?? one.account.code, one.direction, one.amount]);
    expect(plain(shown.body.entries)).toEqual(plain(booked.entries));
    expect((await preview('cash.granted.v1', { grant_id: 1 })).status).toBe(400);
    expect((await preview('no.such.v1', {})).status).toBe(400);
    expect((await l.get('/v1/admin/posting-rules')).body.data.length).toBeGreaterThanOrEqual(11);
  });
});

describe('the federation', () => {
  test('shows the dashboard, and a member the own wallets on the user', async () => {
    const token = l.token;
    const dashboard =
      '{ trialBalance(currency: "USD") { balanced lines { account { code } debit { amount } credit { amount } } } ledgerChainHead { height hash } }';
    expect((await l.p.graphql(dashboard, {}, { token })).data.trialBalance.balanced).toBe(true);
    const mine = await l.p.graphql(
      '{ myWallets { kind balance { amount } user { id wallets { id kind } } account { code } } }',
      {},
      { token: await l.userToken(DEMO) },
    );
    expect(mine.data.myWallets).toMatchObject([
      { kind: 'CASH', balance: { amount: 1_540 }, user: { id: DEMO, wallets: [{ kind: 'CASH' }] } },
    ]);
  });
});

describe('periods', () => {
  test('case 10: nothing is booked into a closed October; what happened then is booked on the first open instant', async () => {
    await l.clock({ now: '2026-11-05T00:00:00.000Z' });
    const close = async (name: string) => l.call('POST', `/v1/periods/${(await periodOf(name)).id}/close`);
    expect(await close('2026-11')).toMatchObject({ status: 409, body: { reason: 'not_over' } });
    const before = await close('2026-10');
    expect(before).toMatchObject({ status: 409, body: { reason: 'previous_open' } });
    expect((await close('2026-09')).status).toBe(200);
    expect(await close('2026-10')).toMatchObject({ status: 200, body: { status: 'closed', closed_by: 'demo-m2m' } });
    expect(await close('2026-10')).toMatchObject({ status: 409, body: { reason: 'already_closed' } });
    const late = await l.post([debit(BANK, 1), credit('income:sales:order:usd', 1)], { effective_at: '2026-10-20T00:00:00.000Z' });
    expect(late).toMatchObject({ status: 409, body: { reason: 'period_closed' } });
    const grant = randomUUID();
    await l.told(cashGranted, grantedOf(grant, 5), randomUUID(), '2026-10-30T00:00:00.000Z');
    const [booked] = (await l.get(`/v1/transactions?source_id=${grant}`)).body.data;
    expect(booked).toMatchObject({
      effective_at: '2026-11-01T00:00:00.000Z',
      metadata: { original_effective_at: '2026-10-30T00:00:00.000Z' },
    });
  });
});
