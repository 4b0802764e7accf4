import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { paymentCharged, paymentRefunded } from '../../events/catalogue/payments.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { chargedOf, refundedOf } from './facts.js';
import { BANK, cashOf, credit, creditOf, debit, earningsOf, Ledger } from './ledger.js';

let l: Ledger;
const user = randomUUID();
beforeAll(async () => {
  l = await Ledger.open();
});

const rows = async (): Promise<number> =>
  (await l.p.sql<{ n: number }>('select count(*)::int as n from accounting.ledger_transaction'))[0]!.n;
const pair = (amount: unknown, currency: unknown = 'USD') => [
  { ...debit(BANK, 1), amount: { amount, currency } },
  { ...credit(cashOf(user), 1), amount: { amount, currency } },
];
const pointersOf = (answer: { body: any }): string[] => answer.body.errors.map((one: any) => one.pointer);

describe('bad input is a 400 with every violation, and writes nothing', () => {
  test.each([
    ['a float', pair(1.5), ['/entries/0/amount/amount', '/entries/1/amount/amount']],
    ['a text', pair('100'), ['/entries/0/amount/amount', '/entries/1/amount/amount']],
    ['below zero', pair(-1), ['/entries/0/amount/amount', '/entries/1/amount/amount']],
    ['zero', pair(0), ['/entries/0/amount/amount', '/entries/1/amount/amount']],
    ['beyond 2^53', pair(2 ** 53), ['/entries/0/amount/amount', '/entries/1/amount/amount']],
    ['an unknown currency', pair(1, 'XYZ'), ['/entries/0/amount/currency', '/entries/1/amount/currency']],
    ['another currency than the account', pair(1, 'EUR'), ['/entries/0/amount/currency', '/entries/1/amount/currency']],
    ['unknown accounts', [debit('assets:nowhere:usd', 1), credit('x:usd', 1)], ['/entries/0/account_code', '/entries/1/account_code']],
    ['one entry', [debit(BANK, 1)], ['/entries']],
    ['65 entries', [...Array<unknown>(64).fill(debit(BANK, 1)), credit(cashOf(randomUUID()), 64)], ['/entries']],
    [
      'two currencies that do not meet',
      [debit(BANK, 100), credit('assets:bank:eur', 90)],
      ['/entries', '/entries', '/entries', '/metadata/rate'],
    ],
    [
      'recognition elsewhere',
      [debit(BANK, 1, { recognition_cut: { key: 'k', amount: 1 } }), credit(cashOf(randomUUID()), 1)],
      ['/entries/0/recognition_cut'],
    ],
  ])('%s', async (_what, entries, pointers) => {
    const before = await rows();
    const answer = await l.post(entries as never);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(pointersOf(answer)).toEqual(pointers);
    expect(await rows()).toBe(before);
  });

  test.each([
    ['a name', { description: 'for jane@example.com' }, '/description'],
    ['an unknown key', { metadata: { diagnosis: 'x' } }, '/metadata/diagnosis'],
    ['a sentence', { metadata: { reference: 'a name here' } }, '/metadata/reference'],
    ['a time ahead', { effective_at: '2030-01-01T00:00:00.000Z' }, '/effective_at'],
    ['an expiry of nothing', { expires_at: '2026-11-12T00:00:00.000Z' }, '/expires_at'],
    ['an expiry beyond 30 days', { pending: true, expires_at: '2027-01-12T00:00:00.000Z' }, '/expires_at'],
  ])('%s', async (_what, more, pointer) => {
    const answer = await l.post([debit(BANK, 1), credit(cashOf(user), 1)], more);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(pointersOf(answer)).toEqual([pointer]);
  });

  test('totals that pass 2^53 are refused, and the account stays as it is', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const code = `liabilities:tax:${randomUUID()}:jpy`;
    const entries = [debit('equity:fx:jpy', most), credit(code, most)];
    expect((await l.post(entries)).status).toBe(201);
    expect(await l.post(entries)).toMatchObject({ status: 409, body: { reason: 'balance_too_large' } });
    expect(await l.balance(code)).toBe(most);
  });

  test('two currencies meet through a pair of equity:fx with a rate', async () => {
    const exchange = [debit(BANK, 110), credit('equity:fx:usd', 110), debit('equity:fx:eur', 100), credit('assets:bank:eur', 100)];
    expect((await l.post(exchange, { metadata: { rate: '1.1' } })).status).toBe(201);
    expect(pointersOf(await l.post(exchange, { metadata: { rate: '1,1' } }))).toContain('/metadata/rate');
    expect((await l.trialBalance('EUR')).balanced).toBe(true);
  });
});

describe('accounts', () => {
  test('are opened by staff outside of the chart, renamed, frozen, opened again and closed when empty', async () => {
    const code = `assets:till:${randomUUID()}:usd`;
    const opened = await l.call('POST', '/v1/accounts', { code, name: 'Till', type: 'asset' });
    expect(opened).toMatchObject({ status: 201, body: { normal_side: 'debit', currency: 'USD', floor: null, status: 'open' } });
    const change = (body: object) => l.call('PATCH', `/v1/accounts/${opened.body.id}`, body);
    expect((await l.call('POST', '/v1/accounts', { code, name: 'Till', type: 'asset' })).status).toBe(409);
    await l.post([debit(code, 50), credit('equity:fx:usd', 50)]);
    expect(await change({ status: 'frozen', name: 'Old till' })).toMatchObject({
      status: 200,
      body: { status: 'frozen', name: 'Old till' },
    });
    const spend = [debit('equity:fx:usd', 50), credit(code, 50)];
    expect(await l.post(spend)).toMatchObject({ status: 409, body: { reason: 'account_frozen' } });
    expect((await change({ status: 'closed' })).status).toBe(409);
    expect((await change({ status: 'open' })).status).toBe(200);
    expect(await change({ status: 'closed' })).toMatchObject({ status: 409, body: { reason: 'not_empty' } });
    expect(await change({ floor: 60 })).toMatchObject({ status: 409, body: { reason: 'insufficient_funds' } });
    expect((await change({ floor: 10 })).status).toBe(200);
    const take = (units: number) => l.post([debit('equity:fx:usd', units), credit(code, units)]);
    expect(await take(41)).toMatchObject({ status: 409, body: { reason: 'insufficient_funds' } });
    expect((await take(40)).status).toBe(201); // down to the floor
    await l.post([debit(code, 40), credit('equity:fx:usd', 40)]);
    expect(await l.post(spend)).toMatchObject({ status: 409, body: { reason: 'insufficient_funds' } });
    expect((await change({ floor: null })).status).toBe(200);
    expect((await l.post(spend)).status).toBe(201);
    expect(await change({ status: 'closed' })).toMatchObject({ status: 200, body: { status: 'closed' } });
    expect((await change({ status: 'open' })).status).toBe(409);
    expect(await l.post(spend)).toMatchObject({ status: 409, body: { reason: 'account_closed' } });
  });

  test('a reversal passes a frozen account', async () => {
    const code = cashOf(randomUUID());
    const id = await l.fund(code, 10);
    const { id: account } = await l.account(code);
    await l.call('PATCH', `/v1/accounts/${account}`, { status: 'frozen' });
    expect((await l.call('POST', `/v1/transactions/${id}/reverse`, { reason: 'an error' })).status).toBe(201);
  });

  test('a balance at an instant comes from the entries that were effective by then; of the future there is none', async () => {
    const code = cashOf(randomUUID());
    await l.post([debit(BANK, 30), credit(code, 30)], { effective_at: '2026-11-01T00:00:00.000Z' });
    await l.post([debit(BANK, 12), credit(code, 12)], { effective_at: '2026-11-05T00:00:00.000Z' });
    const { id } = await l.account(code);
    const at = async (instant: string) => (await l.get(`/v1/accounts/${id}/balance?at=${instant}`)).body.balance?.amount;
    expect([await at('2026-10-31T00:00:00.000Z'), await at('2026-11-01T00:00:00.000Z'), await at('2026-11-06T00:00:00.000Z')]).toEqual([
      0, 30, 42,
    ]);
    expect((await l.get(`/v1/accounts/${id}/balance?at=2031-01-01T00:00:00.000Z`)).status).toBe(400);
  });
});

describe('wallets', () => {
  test("are one's own at /me, anybody's for a service that names the user, and none before the first use", async () => {
    await l.fund(cashOf(DEMO2), 30);
    await l.fund(creditOf(DEMO2), 7);
    await l.post([debit(cashOf(DEMO2), 10), credit(BANK, 10)], { pending: true });
    const ask = async (path: string, token: string) => l.p.rest('GET', `/accounting/v1/wallets${path}`, { token });
    const [own, foreign] = [await l.userToken(DEMO2), await l.userToken(DEMO)];
    const { body } = await ask('/me', own);
    const seen = body.data.map((one: any) => [one.kind, one.balance.amount, one.available.amount, one.pending.amount]);
    expect(seen.sort()).toEqual([
      ['cash', 30, 20, 10],
      ['credit', 7, 7, 0],
    ]);
    expect((await ask(`?user_id=${DEMO2}`, own)).body).toEqual(body);
    expect((await ask(`?user_id=${DEMO2}`, l.token)).body.data).toHaveLength(2);
    expect((await ask(`?user_id=${DEMO2}`, foreign)).status).toBe(404);
    expect((await ask('/me', foreign)).body.data).toEqual([]);
    expect((await ask(`?user_id=${randomUUID()}`, l.token)).body.data).toEqual([]);
    expect((await ask('', l.token)).status).toBe(400);
    const other = await l.p.userToken(DEMO2, ['read:membership']);
    expect((await ask('/me', other)).status).toBe(403);
  });

  test('in a safe view nothing tells whose an account or a transaction is', async () => {
    await l.fund(cashOf(DEMO2), 1);
    for (const view of ['ledger_account_safe', 'ledger_transaction_safe']) {
      const rows = await l.p.sql(`select * from accounting.${view}`);
      expect(JSON.stringify(rows)).not.toContain(DEMO2);
      for (const column of ['user_id', 'metadata', 'description', 'name', 'source_id']) expect(Object.keys(rows[0]!)).not.toContain(column);
    }
  });
});

describe('reads', () => {
  test('transactions are found by account, user, source, time and status', async () => {
    const someone = randomUUID();
    const code = cashOf(someone);
    const made = await l.post([debit(BANK, 500), credit(code, 500)], { user_id: someone, effective_at: '2026-11-03T00:00:00.000Z' });
    const held = await l.post([debit(code, 100), credit(BANK, 100)], { user_id: someone, pending: true });
    const { id: account } = await l.account(code);
    const found = async (query: string) =>
      (await l.get(`/v1/transactions?user_id=${someone}&${query}`)).body.data.map((one: any) => one.id);
    expect(await found('')).toEqual([held.body.id, made.body.id]);
    expect(await found(`account_id=${account}&status=posted`)).toEqual([made.body.id]);
    expect(await found('status=pending')).toEqual([held.body.id]);
    expect(await found(`source_id=${made.body.source.id}&source_type=test`)).toEqual([made.body.id]);
    expect(await found('from=2026-11-02T00:00:00.000Z&to=2026-11-04T00:00:00.000Z')).toEqual([made.body.id]);
    expect((await l.call('POST', `/v1/transactions/${held.body.id}/void`)).status).toBe(201);
    expect(await found('status=voided')).toHaveLength(2);
    expect(await l.available(code)).toBe(500);
    expect(await l.call('POST', `/v1/transactions/${held.body.id}/post`, {})).toMatchObject({
      status: 409,
      body: { reason: 'already_voided' },
    });
  });

  test('a payment shows its transactions, oldest first, and a payout its reservation with what became of it', async () => {
    const [someone, payment, refund, payout] = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
    await l.told(paymentRefunded, refundedOf(refund, payment, 200), someone);
    await l.told(paymentCharged, chargedOf(payment, 500), someone);
    await l.fund(earningsOf(someone), 300);
    const held = await l.post([debit(earningsOf(someone), 300), credit(BANK, 300)], {
      pending: true,
      source: { service: 'payments', type: 'payout', id: payout },
    });
    const posted = await l.call('POST', `/v1/transactions/${held.body.id}/post`, {});
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) {
      ... on Payment { ledgerTransactions { source { type id } } } ... on Payout { ledgerTransaction { id resolvedBy { id } } } } }`;
    const r = [
      { __typename: 'Payment', id: payment },
      { __typename: 'Payout', id: payout },
      { __typename: 'Payout', id: payment },
    ];
    const ask = (token: string) => l.p.rest('POST', '/accounting/graphql', { token, body: { query, variables: { r } } });
    const { body } = await ask(l.token);
    expect(body.data._entities).toEqual([
      {
        ledgerTransactions: [
          { source: { type: 'payment.refunded.succeeded', id: refund } },
          { source: { type: 'payment.charged', id: payment } },
        ],
      },
      { ledgerTransaction: { id: held.body.id, resolvedBy: { id: posted.body.id } } },
      { ledgerTransaction: null },
    ]);
    expect((await ask(await l.userToken(DEMO))).body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('a repeated Idempotency-Key of a reversal answers the first one', async () => {
    const id = await l.fund(cashOf(randomUUID()), 10);
    const reverse = () => l.call('POST', `/v1/transactions/${id}/reverse`, { reason: 'an error' }, { 'idempotency-key': `reverse-${id}` });
    const [first, second] = [await reverse(), await reverse()];
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test('each posting leaves an audit row and its events in the same commit', async () => {
    const someone = randomUUID();
    const id = await l.fund(cashOf(someone), 25);
    const [row] = await l.p.sql('select xmin::text as xid from accounting.ledger_transaction where id = $1', [id]);
    const audits = await l.p.sql('select action, actor, xmin::text as xid from accounting.audit_log where target = $1', [id]);
    const actor = { kind: 'service', client_id: 'demo-m2m' };
    expect(audits).toMatchObject([{ action: 'ledger_transaction.posted', actor, xid: row!.xid }]);
    const events = await l.p.sql<{ type: string; data: any }>('select type, data from events.outbox where user_id = $1 order by seq', [
      someone,
    ]);
    expect(events.map(one => one.type)).toEqual(['accounting.transaction.posted.v1', 'accounting.balance.changed.v1']);
    expect(events[1]!.data).toMatchObject({ kind: 'cash', balance: 25, available: 25, delta: 25, transaction_id: id, account_version: 1 });
  });
});
