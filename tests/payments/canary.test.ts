import { beforeAll, expect, test } from 'vitest';
import { Bank } from './bank.js';
import { neighbours } from './neighbours.js';

/** Looked for in every table, event and answer: a card number, a CVC beside it, a bank account, and what only the processor may know. */
const CARD = '4242424242424242';
const ACCOUNT = '000123456789';

let bank: Bank;
let user: string;
beforeAll(async () => {
  bank = await Bank.open();
  const { ledger } = neighbours(bank.p);
  user = await bank.stranger();
  ledger.wallets.set(user, 5_000);
});

const TABLES = `select table_schema as schema, table_name as name from information_schema.tables
  where table_schema in ('payments', 'events') and table_type = 'BASE TABLE'`;

test('no card number, bank account or secret is in any table, event or answer, whatever callers send', async () => {
  const answers: unknown[] = [];
  const keep = async (asked: Promise<{ status: number; body: unknown }>): Promise<void> => void answers.push((await asked).body);
  const paymentId = await bank.paid(user, 2_000);
  await keep(bank.post('/v1/checkout', { mode: 'payment', card_number: CARD, cvc: '123' }));
  await keep(bank.post('/v1/billing/payment-methods', { user_id: user, token: CARD }));
  await bank.act('open_dispute', paymentId);
  const { id } = await bank.disputeOf(paymentId, { status: 'needs_response' });
  await keep(bank.post(`/v1/admin/disputes/${id}/evidence`, { evidence: { uncategorized_text: `card ${CARD}` } }));
  await keep(bank.p.rest('PUT', '/payments/v1/billing/payout-destination', { token: bank.token, body: { user_id: user, token: ACCOUNT } }));
  await bank.p.rest('PUT', '/payments/v1/billing/payout-destination', { token: bank.token, body: { user_id: user, token: 'ba_ok' } });
  await keep(bank.post('/v1/admin/payouts', { user_id: user, amount: { amount: 100, currency: 'USD' }, reference: 'canary' }));
  await keep(bank.get(`/v1/admin/disputes/${id}`));
  await keep(bank.get('/v1/admin/webhooks'));
  await bank.handled('true');
  for (const { schema, name } of await bank.p.sql<{ schema: string; name: string }>(TABLES))
    for (const canary of [CARD, ACCOUNT, bank.secret])
      expect(await bank.count(`${schema}."${name}" t where t::text like $1`, [`%${canary}%`]), `${schema}.${name}`).toBe(0);
  const seen = JSON.stringify(answers);
  for (const canary of [CARD, bank.secret]) expect(seen).not.toContain(canary);
});

test('tokens of methods and destinations are sealed in payments’ own tables', async () => {
  const [method] = await bank.p.sql('select token_sealed from payments.payment_method where user_id = $1', [user]);
  const [object] = await bank.p.sql(`select id from payments.processor_object where kind = 'method' order by created_at desc limit 1`);
  expect(method.token_sealed.toString()).not.toContain(object.id);
});
