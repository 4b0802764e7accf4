import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { notify } from '../../subgraphs/payments/ports/sandbox/notices.js';
import { SandboxStore } from '../../subgraphs/payments/ports/sandbox/store.js';
import { holding, waitingIn } from '../support/locks.js';
import { Bank } from './bank.js';

let bank: Bank;
let user: string;
beforeAll(async () => {
  bank = await Bank.open();
  user = await bank.stranger();
});

const events = (): Promise<number> => bank.count('payments.processor_event');

describe('the inbound webhook', () => {
  test('answers a genuine call, keeps its bytes sealed, and marks it when it is handled', async () => {
    const paymentId = await bank.paid(user, 4_000);
    const { processor_payment_id: id } = await bank.payment(paymentId);
    const answer = await bank.notify({ kind: 'charge', id }, { id: 'evt_genuine' });
    expect(answer).toMatchObject({ status: 200, body: { received: true } });
    const [event] = await bank.handled(`processor_event_id = 'evt_genuine'`);
    expect(event).toMatchObject({ status: 'processed', attempts: 1, error: null, type: 'charge.updated' });
    expect(event.body_sealed.toString()).not.toContain(id);
    await expect.poll(() => bank.count('payments.processor_event where object_ref = $1', [`charge:${id}`])).toBe(2); // the processor's own has come
  });

  test('waits for nobody about a charge that is decided', async () => {
    const paymentId = await bank.paid(user, 4_000);
    const { processor_payment_id: id } = await bank.payment(paymentId);
    const other = new pg.Client({ connectionString: bank.p.env.DATABASE_URL });
    await other.connect();
    await other.query('begin');
    await other.query('select from payments.payment where id = $1 for update', [paymentId]);
    await other.query(
      'select from payments.checkout_session where id in (select checkout_session_id from payments.payment where id = $1) for update',
      [paymentId],
    );
    expect(await bank.notify({ kind: 'charge', id }, { id: 'evt_late' })).toMatchObject({ status: 200 });
    expect(await bank.handled(`processor_event_id = 'evt_late'`)).toMatchObject([{ status: 'processed', attempts: 1 }]);
    await other.end();
    await expect.poll(() => bank.count('payments.processor_event where object_ref = $1', [`charge:${id}`])).toBe(2); // nothing comes after it
  });

  test('keeps its calls from others while they wait for their turn', async () => {
    const [slow, quick] = [await bank.paid(user, 4_000), await bank.paid(user, 4_000)];
    const [first, last] = await Promise.all([slow, quick].map(async one => (await bank.payment(one)).processor_payment_id as string));
    await holding(bank.p, ['select from payments.processor_object where id = $1 for update', [first]], async release => {
      for (let n = 0; n < 10; n++) await bank.notify({ kind: 'charge', id: first! }, { id: `evt_slow_${n}` });
      await bank.notify({ kind: 'charge', id: last! }, { id: 'evt_waits' });
      const isKept = `payments.processor_event where processor_event_id = 'evt_waits' and next_attempt_at >= received_at + interval '31 seconds'`;
      await bank.advance('PT2S'); // by which a lease that is renewed is longer
      await expect.poll(() => bank.count(isKept), { timeout: 30_000 }).toBe(1);
      await release();
    });
    expect(await bank.handled(`processor_event_id = 'evt_waits'`)).toMatchObject([{ status: 'processed', attempts: 1 }]);
  }, 60_000);

  test.each([
    ['a wrong secret', { secret: 'another-secret' }],
    ['a time 310 s ago', { age: 310 }], // to the second: a table of the rule
    ['a time 310 s ahead', { age: -310 }],
  ])('refuses %s with 401, and keeps nothing', async (_name, more) => {
    const before = await events();
    const answer = await bank.notify({ kind: 'charge', id: 'ch_x' }, more);
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated', reason: 'invalid_signature' } });
    expect(await events()).toBe(before);
  });

  test('refuses a call without a signature with 401, one that cannot be read with 400, a long one with 413', async () => {
    const before = await events();
    expect(await bank.p.rest('POST', '/payments/v1/webhooks/processor', { body: {} })).toMatchObject({ status: 401 });
    expect(await bank.notify({ kind: 'charge', id: 'x' }, { body: 'not json' })).toMatchObject({ status: 400 });
    expect(await bank.notify({ kind: 'charge', id: 'x' }, { body: '{"id":1}' })).toMatchObject({ status: 400 });
    expect(await bank.notify({ kind: 'charge', id: 'x' }, { body: 'x'.repeat(262_145) })).toMatchObject({ status: 413 });
    expect(await events()).toBe(before);
  });

  test('takes 290 s', async () => {
    expect(await bank.notify({ kind: 'plan', id: 'x' }, { age: 290 })).toMatchObject({ status: 200 });
  });

  test('answers a duplicate with 200, keeps and audits it once; an unknown type is ignored', async () => {
    const send = () => bank.notify({ kind: 'plan', id: 'plan_1' }, { id: 'evt_twice', type: 'plan.twice' });
    expect((await Promise.all([send(), send(), send()])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await bank.p.sql(`select status from payments.processor_event where processor_event_id = 'evt_twice'`)).toEqual([
      { status: 'ignored' },
    ]);
    const received = `payments.audit_log where action = 'processor_event.received' and details->>'type' = 'plan.twice'`;
    expect(await bank.count(received)).toBe(1);
  });

  test('is a hint only: what a body claims is not believed', async () => {
    const paymentId = await bank.paid(user, 2_000);
    const { processor_payment_id: id } = await bank.payment(paymentId);
    const body = JSON.stringify({
      id: 'evt_liar',
      type: 'charge.refunded',
      created: Math.floor((await bank.now()).getTime() / 1000),
      data: { object: { kind: 'charge', id, status: 'declined', amount_refunded: 2_000 } },
    });
    expect(await bank.notify({ kind: 'charge', id }, { body })).toMatchObject({ status: 200 });
    await bank.handled(`processor_event_id = 'evt_liar'`);
    expect(await bank.payment(paymentId)).toMatchObject({ status: 'succeeded', amount_refunded: 0 });
  });

  test('an object that the processor does not have is tried again after 1 m, 5 m, 30 m, 2 h, 12 h, and then is dead with an alert', async () => {
    await bank.notify({ kind: 'charge', id: 'ch_nobody' }, { id: 'evt_dead' });
    const state = async () =>
      (await bank.p.sql(`select status, attempts, error from payments.processor_event where processor_event_id = 'evt_dead'`))[0];
    await expect.poll(state, { timeout: 20_000 }).toEqual({ status: 'failed', attempts: 1, error: 'processor_object_missing' });
    for (const [index, wait] of ['PT1M', 'PT5M', 'PT30M', 'PT2H', 'PT12H'].entries()) {
      await bank.advance(wait);
      expect(await state()).toMatchObject({ status: index === 4 ? 'dead' : 'failed', attempts: index + 2 });
    }
    const alerts = await bank.p.sql(
      `select data from events.outbox where type = 'comms.message.send_requested.v1' and data->>'template' = 'processor_event_dead'`,
    );
    expect(alerts).toHaveLength(1);
    expect(alerts[0].data).toMatchObject({ recipient_type: 'staff_role', recipient_id: 'developer' });
  });

  test('the listing shows state and error, never the body', async () => {
    const answer = await bank.get('/v1/admin/webhooks?status=dead');
    expect(answer).toMatchObject({ status: 200, body: { data: [{ processor_event_id: 'evt_dead', status: 'dead', attempts: 6 }] } });
    expect(Object.keys(answer.body.data[0])).not.toContain('body');
  });
});

describe('a replay', () => {
  test('needs events or a period', async () => {
    expect(await bank.post('/v1/admin/webhooks/replay', {})).toMatchObject({ status: 400 });
    const [from, to] = ['2026-01-02T00:00:00.000Z', '2026-01-01T00:00:00.000Z'];
    expect(await bank.post('/v1/admin/webhooks/replay', { from, to })).toMatchObject({ status: 400 });
  });

  test('handles kept calls again from their bytes, with no effect twice; a dry run only counts', async () => {
    const paymentId = await bank.paid(user, 3_000);
    const { processor_payment_id: id } = await bank.payment(paymentId);
    const before = await bank.events('payment.charged.v1', user);
    const kept = await bank.handled('object_ref = $1', [`charge:${id}`]).then(async rows => (rows.length > 0 ? rows : []));
    await bank.notify({ kind: 'charge', id }, { id: 'evt_again' });
    const [own] = await bank.handled(`processor_event_id = 'evt_again'`);
    const ids = [...kept.map(one => one.id), own.id];
    const dry = await bank.post('/v1/admin/webhooks/replay', { event_ids: ids, dry_run: true });
    expect(dry).toMatchObject({ status: 200, body: { matched: ids.length, replayed: 0, unchanged: 0, failed: 0 } });
    const answer = await bank.post('/v1/admin/webhooks/replay', { event_ids: ids });
    expect(answer).toMatchObject({ status: 200, body: { matched: ids.length, replayed: 0, unchanged: ids.length, failed: 0 } });
    expect(answer.body.events).toContainEqual({ id: own.id, status: 'processed' });
    expect(await bank.events('payment.charged.v1', user)).toHaveLength(before.length);
  });

  test('of a period takes what failed, and counts what fails again', async () => {
    const now = (await bank.now()).getTime();
    const [from, to] = [now - 86_400_000, now + 60_000].map(at => new Date(at).toISOString());
    const answer = await bank.post('/v1/admin/webhooks/replay', { from, to, types: ['charge.updated'] });
    expect(answer.body).toMatchObject({ matched: 1, failed: 1, replayed: 0 });
  });

  test('is for those who may', async () => {
    const token = await bank.buyer(user);
    expect(await bank.post('/v1/admin/webhooks/replay', { event_ids: [randomUUID()] }, token)).toMatchObject({ status: 403 });
  });
});

describe('calls of the sandbox', () => {
  test('a late success comes by its call alone, and once', async () => {
    const paymentId = await bank.paid(user, 1_500, 'sbx_async_success');
    expect(await bank.payment(paymentId)).toMatchObject({ status: 'processing' });
    await bank.settles(paymentId, { status: 'succeeded', amount_captured: 1_500 });
    const charged = (await bank.events('payment.charged.v1', user)).filter(one => one.payment_id === paymentId);
    expect(charged).toHaveLength(1);
  });

  test('held calls come when they are released; delivered again and backwards they change nothing', async () => {
    await bank.act('hold_webhooks');
    const paymentId = await bank.paid(user, 1_600, 'sbx_async_success');
    await expect
      .poll(() => bank.count(`payments.processor_object where kind = 'notice' and (data->>'isHeld')::boolean`), { timeout: 20_000 })
      .toBeGreaterThan(1);
    expect(await bank.payment(paymentId)).toMatchObject({ status: 'processing' });
    await bank.act('release_webhooks');
    const settled = await bank.settles(paymentId, { status: 'succeeded' });
    expect(await bank.act('redeliver_last', paymentId)).toMatchObject({ status: 200 });
    expect(await bank.act('deliver_reversed', paymentId)).toMatchObject({ status: 200 });
    expect(await bank.payment(paymentId)).toMatchObject({ status: 'succeeded', version: settled.version });
    expect((await bank.events('payment.paid.v1', user)).filter(one => one.payment_id === paymentId)).toHaveLength(1);
  });

  test('an action that nothing can be done to is a 409, an unknown payment a 404, and users have none', async () => {
    const paymentId = await bank.paid(user, 1_000);
    expect(await bank.act('complete_3ds', paymentId)).toMatchObject({ status: 409 });
    expect(await bank.act('complete_3ds', randomUUID())).toMatchObject({ status: 404 });
    const token = await bank.buyer(user);
    expect(await bank.post('/v1/admin/sandbox/actions', { action: 'hold_webhooks' }, token)).toMatchObject({ status: 403 });
  });
});

test('a call that its process has planned and does not make any more is made by another one', async () => {
  const { processor_payment_id: id } = await bank.payment(await bank.paid(user, 1_700));
  const dead = new SandboxStore(bank.p.env.DATABASE_URL!, true);
  dead.afterCommit = () => undefined;
  try {
    await dead.transaction(tx => notify(tx, 'charge.left', 'charge', id, id));
    const left = `payments.processor_object where kind = 'notice' and parent_id = $1 and data->>'type' = 'charge.left' and due_at`;
    expect(await bank.count(`${left} > now() + interval '5 seconds'`, [id])).toBe(1); // nobody else makes it meanwhile
    await bank.p.sql(`update payments.processor_object set due_at = now() where parent_id = $1 and data->>'type' = 'charge.left'`, [id]);
    await expect.poll(() => bank.count(`${left} is null`, [id]), { timeout: 20_000 }).toBe(1);
    expect(await bank.handled(`type = 'charge.left'`)).toMatchObject([{ status: 'processed', attempts: 1 }]);
  } finally {
    await dead.close();
  }
});

/** Whoever plans a call locks those of its subject, oldest first; who notes several without that order would lock that one out. */
test('calls that were made together are noted from the oldest on', async () => {
  const store = new SandboxStore(bank.p.env.DATABASE_URL!, true);
  try {
    const [first, second] = [randomUUID(), randomUUID()];
    const data = {
      type: 'x',
      object: { kind: 'charge', id: 'x' },
      chargeId: 'x',
      number: 0,
      isHeld: false,
      isDelivered: false,
      attempts: 0,
    } as const;
    await store.transaction(async tx => void tx.insert('notice', first, { ...data }, { parentId: 'x' }));
    await store.transaction(async tx => void tx.insert('notice', second, { ...data }, { parentId: 'x' }));
    await bank.p.sql(`update payments.processor_object set created_at = created_at - interval '1 minute' where id = $1`, [first]);
    const lock = 'select from payments.processor_object where id = $1 for update';
    await holding(bank.p, [lock, [first]], async (release, query) => {
      const noted = store.noteDeliveries([second, first].map(id => ({ id, isTaken: true, waitMs: null })));
      await waitingIn(bank.p, 'jsonb_build_object');
      await query([`${lock} nowait`, [second]]);
      await release();
      await noted;
    });
    const attempts = `select (data->>'attempts')::int as n from payments.processor_object where id = any($1)`;
    expect(await bank.p.sql(attempts, [[first, second]])).toEqual([{ n: 1 }, { n: 1 }]);
  } finally {
    await store.close();
  }
});

test('a transaction of the sandbox reads what it has made and changed, and counts the calls that it has planned', async () => {
  const store = new SandboxStore(bank.p.env.DATABASE_URL!, true);
  const [id, subject] = [randomUUID(), randomUUID()];
  try {
    await store.transaction(async tx => {
      const made = tx.insert('customer', id, {}, { parentId: subject });
      expect(await tx.below('customer', subject)).toMatchObject([{ id, dueAt: null }]);
      made.dueAt = new Date('2100-01-01T00:00:00Z');
      tx.save(made);
      expect(await tx.lock('customer', { id })).toMatchObject({ dueAt: made.dueAt });
      for (const type of ['first', 'second']) await notify(tx, type, 'charge', subject, subject);
      expect((await tx.below('notice', subject)).map(one => one.data.number).toSorted((a, b) => a - b)).toEqual([0, 1]);
    });
  } finally {
    await bank.p.sql('delete from payments.processor_object where parent_id = $1', [subject]);
    await store.close();
  }
});
