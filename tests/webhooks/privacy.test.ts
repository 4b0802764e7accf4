import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { digestOf } from '../../subgraphs/webhooks/commands/grants.js';
import { waitingIn } from '../support/locks.js';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import {
  call,
  consent,
  deliveriesOf,
  emit,
  PROMPTED,
  prompted,
  PROTOCOL,
  protocolBegan,
  subscribe,
  untilIngested,
  untilStatuses,
  type Subscribed,
} from './fixture.js';

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' });
  await consent(p, DEMO2, 'demo-app', ['read:my_outcomes', 'read:protocols', 'read:follows']);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url);
});

const eraseUser = async (userId: string, scope: 'full' | 'health' | 'marketing'): Promise<void> => {
  const request = { request_id: crypto.randomUUID(), scope, requested_at: '2026-11-20T09:30:00.000Z', due_at: '2026-12-20T09:30:00.000Z' };
  const id = await emit(p, userErasureRequested, request, userId);
  await until(
    'the erasure',
    () => p.sql(`select 1 from webhooks.inbox where consumer = 'webhooks.erasure' and event_id = $1`, [id]),
    rows => rows.length > 0,
  );
};

/** Whatever the schema holds, as text. */
async function everything(): Promise<string> {
  const tables = await p.sql<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'webhooks' and tablename not like 'inbox%' and tablename not like 'migration'`,
  );
  const texts = await Promise.all(
    tables.map(({ name }) => p.sql<{ text: string | null }>(`select string_agg(t::text, ' ') as text from webhooks.${name} t`)),
  );
  return texts.map(([row]) => row?.text ?? '').join('\n');
}

describe('a payload', () => {
  const payload = async (token: string, id: string) =>
    (await p.rest('GET', `/webhooks/v1/webhook-deliveries/${id}`, { token })).body.payload;

  test("is shown to those who may read what the type's owner shows, while the grant is active, and each read is audited", async () => {
    const eventId = await protocolBegan(p, DEMO);
    const [{ id }] = await untilStatuses(p, subscription.id, ['delivered']);
    expect(await payload(await p.serviceToken(), id)).toEqual(receiver.received[0]!.body);
    expect(await payload(await p.serviceToken('admin:webhooks'), id)).toBeNull();
    const staff = (permissions: string[]) => p.userToken(ADMIN, [], { clientId: 'demo-admin', permissions, roles: ['developer'] } as never);
    expect(await payload(await staff(['admin:webhooks:read']), id)).toBeNull();
    expect(await payload(await staff(['admin:webhooks:read', 'admin:clinical:read']), id)).toMatchObject({ id: eventId });
    const audits = await p.sql(
      `select actor ->> 'kind' as kind from webhooks.audit_log where action = 'webhook_delivery.payload_read' and target = $1 order by at, id`,
      [id],
    );
    expect(audits.map(row => row.kind)).toEqual(['service', 'staff']);
  });

  test('and what a receiver answered lie sealed in the database, and in no log table', async () => {
    receiver.reply((_one, response) => void response.writeHead(200).end('thank you kindly'));
    await protocolBegan(p, DEMO, 4711);
    await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
    const text = await everything();
    for (const secret of [
      'lipid_reset',
      Buffer.from('lipid_reset').toString('hex'),
      'thank you kindly',
      Buffer.from('thank you kindly').toString('hex'),
    ])
      expect(text).not.toContain(secret);
  });
});

describe('platform_ro', () => {
  test('sees deliveries and attempts without user, body, headers, address and query of the URL', async () => {
    const columns = async (view: string) =>
      (
        await p.sql(`select column_name as name from information_schema.columns where table_schema = 'webhooks' and table_name = $1`, [
          view,
        ])
      ).map(row => row.name);
    for (const hidden of ['user_id', 'url']) expect(await columns('webhook_delivery_safe')).not.toContain(hidden);
    for (const hidden of ['request_headers', 'response_headers', 'response_body_sealed', 'resolved_ip', 'user_id'])
      expect(await columns('webhook_attempt_safe')).not.toContain(hidden);
    const [grants] = await p.sql(
      `select string_agg(table_name, ',' order by table_name) as seen from information_schema.role_table_grants where grantee = 'platform_ro' and table_schema = 'webhooks'`,
    );
    expect(grants.seen).toBe('inbound_receipt_safe,webhook_attempt_safe,webhook_delivery_safe');
  });

  test('reads the views and nothing else', async () => {
    const views =
      await p.sql(`select has_table_privilege('platform_ro', 'webhooks.webhook_delivery_safe', 'select') as safe, has_table_privilege('platform_ro', 'webhooks.webhook_delivery', 'select') as raw,
      has_table_privilege('platform_ro', 'webhooks.webhook_secret', 'select') as secret, has_table_privilege('platform_ro', 'webhooks.webhook_event', 'select') as event`);
    expect(views[0]).toEqual({ safe: true, raw: false, secret: false, event: false });
  });
});

describe('erasing a user', () => {
  test('from marketing changes nothing here', async () => {
    const before = await deliveriesOf(p, subscription.id);
    await eraseUser(DEMO, 'marketing');
    expect(await deliveriesOf(p, subscription.id)).toEqual(before);
  });

  test('from health data ends open deliveries of health data, and deletes their bodies and what receivers answered', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO2, 1);
    const open = await until(
      'a retry',
      () => deliveriesOf(p, subscription.id),
      all => all.at(-1)?.status === 'retrying',
    );
    await eraseUser(DEMO2, 'health');
    const [cancelled] = (await deliveriesOf(p, subscription.id)).filter(one => one.id === open.at(-1).id);
    expect(cancelled).toMatchObject({ status: 'cancelled', cancel_reason: 'user_erased', user_id: DEMO2 });
    expect((await call(p, 'GET', `/v1/webhook-deliveries/${cancelled.id}`)).body.payload).toBeNull();
    expect(await p.sql('select 1 from webhooks.webhook_event where user_id = $1 and data_sealed is not null', [DEMO2])).toEqual([]);
  });

  test('fully cancels what is open, puts one random id in their place everywhere, and delivers nothing that still arrives', async () => {
    receiver.reply(500);
    const first = await protocolBegan(p, DEMO, 9);
    await until(
      'a retry',
      () => deliveriesOf(p, subscription.id),
      all => all.some(one => one.event_id === first && one.status === 'retrying'),
    );
    await prompted(p, DEMO);
    await until(
      'one that waits',
      () => deliveriesOf(p, subscription.id),
      all => all.some(one => one.event_type === PROMPTED),
    );
    const requests = receiver.received.length;
    await eraseUser(DEMO, 'full');

    const all = (await deliveriesOf(p, subscription.id)).filter(one => one.user_id !== DEMO2);
    expect(new Set(all.map(one => one.user_id)).size).toBe(1);
    expect(all[0].user_id).not.toBe(DEMO);
    expect(all.filter(one => one.cancel_reason === 'user_erased').map(one => one.event_type)).toEqual([PROTOCOL, PROMPTED]);
    const ofUser = await p.sql(
      `select target, details from webhooks.audit_log where target = $1 and action = 'user.erased' order by at, id`,
      [DEMO],
    );
    expect(ofUser.at(-1).details).toMatchObject({ outcome: 'anonymised', scope: 'full' });
    const rest = (await everything())
      .split('\n')
      .filter(line => line.includes(DEMO))
      .map(line => line.slice(0, 40));
    expect(rest.length).toBeLessThanOrEqual(1); // the audit rows that prove the erasures, by target
    expect((await call(p, 'GET', `/v1/webhook-deliveries/${all[0].id}`)).body.payload).toBeNull();
    expect((await call(p, 'POST', `/v1/webhooks/${first}/replay`)).status).toBe(404);

    receiver.reply(200);
    await untilIngested(p, await protocolBegan(p, DEMO, 10));
    await p.clock('webhooks', { advance: 'PT2M' });
    expect(receiver.received).toHaveLength(requests);
    expect((await deliveriesOf(p, subscription.id)).filter(one => one.user_id === DEMO)).toEqual([]);
  });
});

test('an event that comes while its user is erased waits, and finds them erased', async () => {
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select pg_advisory_xact_lock(webhooks.user_lock($1))', [DEMO2]);
    const id = await protocolBegan(p, DEMO2);
    await waitingIn(p, 'webhooks.enter_user');
    await other.query('insert into webhooks.erased_user (user_digest, erased_at) values ($1, now())', [digestOf(DEMO2)]);
    await other.query('commit');
    await untilIngested(p, id);
    expect(await p.sql('select 1 from webhooks.webhook_delivery where event_id = $1', [id])).toEqual([]);
  } finally {
    await other.end();
  }
});
