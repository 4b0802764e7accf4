import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { hourly } from '../../subgraphs/webhooks/timers/identity.js';
import { until } from '../support/until.js';
import { call, grantees, PROMPTED, prompted, PROTOCOL, protocolBegan, subscribe, untilStatuses, type Subscribed } from './fixture.js';

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' });
  await p.clock('webhooks', { now: new Date().toISOString() });
});

beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url, [PROTOCOL, PROMPTED]);
});

const read = async (): Promise<any> => (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body;
const post = (action: string, body?: object) => call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/${action}`, body);
const advance = (duration: string): Promise<void> => p.clock('webhooks', { advance: duration });

/** What the owner of the subscription was told, newest first, and the messages that comms was asked for. */
async function told(): Promise<{ kinds: string[]; messages: any[] }> {
  const answer = await p.graphql(
    `query ($id: ID!) { webhookSubscription(id: $id) { notices(first: 10) { nodes { kind at message } } } }`,
    { id: subscription.id },
    { token: await p.serviceToken() },
  );
  expect(answer.errors).toEqual([]);
  const messages = await p.sql(
    `select data from events.outbox where type = 'comms.message.send_requested.v1' and subject = $1 order by seq`,
    [`webhook_subscription:${subscription.id}`],
  );
  return {
    kinds: answer.data.webhookSubscription.notices.nodes.map((one: any) => one.kind),
    messages: messages.map(row => (typeof row.data === 'string' ? JSON.parse(row.data) : row.data)),
  };
}

describe('an endpoint that never succeeds', () => {
  test('brings its owner a notice after 24 hours, after 72 hours and when it is disabled, each as a message to the owner of the client', async () => {
    receiver.reply(500);
    const users = await grantees(p, 2);
    for (const user of users) await protocolBegan(p, user);
    await untilStatuses(p, subscription.id, ['retrying', 'retrying']);
    await advance('PT23H');
    expect((await told()).kinds).toEqual([]);
    await advance('PT1H');
    expect((await told()).kinds).toEqual(['FAILING_24H']);
    await advance('P2D');
    expect((await told()).kinds).toEqual(['FAILING_72H', 'FAILING_24H']);
    await advance('P2D');
    expect(await read()).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
    const { kinds, messages } = await told();
    expect(kinds).toEqual(['DISABLED', 'FAILING_72H', 'FAILING_24H']);
    expect(messages.map(one => [one.template, one.recipient_type, one.recipient_id, one.params.kind])).toEqual([
      ['webhook_failing', 'client_owner', 'demo-app', 'failing_24h'],
      ['webhook_failing', 'client_owner', 'demo-app', 'failing_72h'],
      ['webhook_disabled', 'client_owner', 'demo-app', 'disabled'],
    ]);
    expect(new Set(messages.map(one => one.dedupe_key)).size).toBe(3);
    expect(JSON.stringify(messages)).not.toContain(receiver.url);
  });

  test('is warned of again after a success in between', async () => {
    receiver.reply(500);
    const [first, second, third] = await grantees(p, 3);
    await protocolBegan(p, first!);
    await untilStatuses(p, subscription.id, ['retrying']);
    await advance('PT25H');
    receiver.reply(200);
    await protocolBegan(p, second!);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered']);
    receiver.reply(500);
    await protocolBegan(p, third!);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered', 'retrying']);
    await advance('PT25H');
    expect((await told()).kinds).toEqual(['FAILING_24H', 'FAILING_24H']);
  });
});

describe('a pause', () => {
  test('holds an event for 14 days; then it is a dead letter, the owner is told once, and the rest goes on', async () => {
    await post('pause');
    await protocolBegan(p, DEMO, 1);
    await untilStatuses(p, subscription.id, ['pending']);
    await advance('P7D');
    await protocolBegan(p, DEMO, 2);
    await untilStatuses(p, subscription.id, ['pending', 'pending']);
    await advance('PT167H');
    await untilStatuses(p, subscription.id, ['pending', 'pending']);
    await advance('PT1H');
    const [old] = await untilStatuses(p, subscription.id, ['dead_lettered', 'pending']);
    expect(old.dead_letter_reason).toBe('backlog_overflow');
    await prompted(p, DEMO);
    await advance('P7D');
    const { kinds, messages } = await told();
    expect([kinds, messages.map(one => one.template)]).toEqual([['BACKLOG'], ['webhook_backlog']]);
    await post('resume');
    await untilStatuses(p, subscription.id, ['dead_lettered', 'dead_lettered', 'delivered']);
    expect(receiver.received.map(one => one.body.type)).toEqual([PROMPTED]);
  });

  test('holds 100,000 events; the oldest of more become dead letters', async () => {
    await post('pause');
    await protocolBegan(p, DEMO, 1);
    const [first] = await untilStatuses(p, subscription.id, ['pending']);
    await p.sql(
      `insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, status, created_at)
       select gen_random_uuid(), gen_random_uuid(), subscription_id, client_id, user_id, event_type, sequence + n, 0, 'pending', created_at
       from webhooks.webhook_delivery, generate_series(1, 100001) n where id = $1`,
      [first.id],
    );
    await p.sql('update webhooks.webhook_lane set open_count = 100002 where subscription_id = $1', [subscription.id]);
    await advance('PT1M');
    const [counts] = await p.sql(
      `select count(*) filter (where status = 'pending')::int as held, count(*) filter (where dead_letter_reason = 'backlog_overflow')::int as dead,
        (select open_count from webhooks.webhook_lane where subscription_id = $1) as open
       from webhooks.webhook_delivery where subscription_id = $1`,
      [subscription.id],
    );
    expect(counts).toEqual({ held: 100_000, dead: 2, open: 100_000 });
    expect((await call(p, 'GET', `/v1/webhook-deliveries/${first.id}`)).body.status).toBe('dead_lettered');
    await p.sql(`delete from webhooks.webhook_delivery where subscription_id = $1`, [subscription.id]);
    await p.sql(`delete from webhooks.webhook_lane where subscription_id = $1`, [subscription.id]);
  });
});

test('an active subscription has 100,000 open deliveries at most: the oldest of more become dead letters, and the owner is told once a day', async () => {
  receiver.reply(500);
  await protocolBegan(p, DEMO, 1);
  const [first] = await untilStatuses(p, subscription.id, ['retrying']);
  let round = 0;
  const overflow = async (): Promise<void> => {
    await p.sql(
      `insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, status, created_at)
       select gen_random_uuid(), d.event_id, d.subscription_id, d.client_id, d.user_id, d.event_type, d.sequence + n, $3 + n, 'pending', d.created_at
       from webhooks.webhook_delivery d, generate_series(1, 101500 - (select count(*)::int from webhooks.webhook_delivery o
         where o.subscription_id = $2 and o.status in ('pending', 'retrying'))) n where d.id = $1`,
      [first.id, subscription.id, round++ * 200_000], // of the one event, which has a body
    );
    await p.sql('update webhooks.webhook_lane set open_count = 101500 where subscription_id = $1', [subscription.id]);
  };
  await overflow();
  await advance('PT1S');
  const open = `select count(*)::int as open, count(*) filter (where sequence = $2)::int as oldest from webhooks.webhook_delivery
    where subscription_id = $1 and status in ('pending', 'retrying')`;
  expect(await p.sql(open, [subscription.id, first.sequence])).toEqual([{ open: 100_000, oldest: 0 }]);
  expect((await told()).kinds).toEqual(['BACKLOG']);
  await overflow();
  await advance('PT1S');
  expect((await told()).kinds).toEqual(['BACKLOG']);
  await p.sql(`delete from webhooks.webhook_delivery where subscription_id = $1`, [subscription.id]);
  await p.sql(`delete from webhooks.webhook_lane where subscription_id = $1`, [subscription.id]);
});

describe('a previous secret', () => {
  test.each([
    [401, ['SECRET_EXPIRING']],
    [500, []],
    [200, []],
  ])('that ends in an hour, while the endpoint answers %d, brings %j', async (status, kinds) => {
    receiver.reply(status);
    await post('rotate-secret', { overlap_hours: 24 });
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, [status === 200 ? 'delivered' : 'retrying']);
    await advance('PT22H');
    expect((await told()).kinds).toEqual([]);
    await advance('PT1H');
    expect((await told()).kinds).toEqual(kinds);
    await advance('PT2H');
    expect((await told()).kinds.filter(kind => kind === 'SECRET_EXPIRING')).toEqual(kinds);
  });
});

describe('what identity takes away', () => {
  /** With a manual clock identity is asked at midnight: ten minutes are left, so that a retry is still open then. */
  async function lateInTheDay(): Promise<void> {
    const [{ now }] = await p.sql(
      `select (date_trunc('day', now at time zone 'utc' + interval '10 minutes') + interval '23 hours 50 minutes') at time zone 'utc' as now from webhooks.test_clock`,
    );
    await p.clock('webhooks', { now: new Date(now).toISOString() });
  }
  const setClient = (column: string, value: unknown) =>
    p.sql(`update identity.oauth_client set ${column} = $1 where id = 'demo-app'`, [value]);
  const midnight = (): Promise<void> => advance('PT10M');
  beforeEach(lateInTheDay);
  afterEach(async () => {
    await setClient('status', 'active');
    await setClient('scopes', scopesBefore);
  });
  let scopesBefore: string[];
  beforeAll(async () => {
    p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' }); // whose clock has not moved past the time for which deliveries are kept
    await p.clock('webhooks', { now: new Date().toISOString() });
    scopesBefore = (await p.sql(`select scopes from identity.oauth_client where id = 'demo-app'`))[0].scopes;
  });

  test('a client that is suspended: the subscription is disabled, what is open is cancelled, the owner is told', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    await setClient('status', 'disabled');
    await midnight();
    await setClient('status', 'active');
    expect(await read()).toMatchObject({ status: 'disabled', disabled_reason: 'client_inactive' });
    const [open] = await untilStatuses(p, subscription.id, ['cancelled']);
    expect(open.cancel_reason).toBe('client_removed');
    expect((await told()).kinds).toEqual(['DISABLED']);
    expect((await post('enable')).body.status).toBe('active');
  });

  test('a scope of the client: its types leave the filter, and with the last of them the subscription is disabled', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    const without = (...lost: string[]) =>
      setClient(
        'scopes',
        scopesBefore.filter(scope => !lost.includes(scope)),
      );
    await without('read:protocols');
    await midnight();
    expect(await read()).toMatchObject({ status: 'active', event_types: [PROMPTED] });
    const [open] = await untilStatuses(p, subscription.id, ['cancelled']);
    expect(['filter_changed', 'grant_revoked']).toContain(open.cancel_reason);
    expect((await told()).kinds).toEqual(['SCOPE_REMOVED']);
    await without('read:protocols', 'read:my_outcomes');
    await advance('P1D');
    expect(await read()).toMatchObject({ status: 'disabled', disabled_reason: 'scope_removed', event_types: [PROMPTED] });
    expect(await post('enable')).toMatchObject({ status: 409, body: { reason: 'not_allowed' } });
    await setClient('scopes', scopesBefore);
    expect((await told()).kinds[0]).toBe('DISABLED');
    expect((await post('enable')).body.status).toBe('active');
  });

  test('a grant whose end no event has told of: its open deliveries are cancelled and nothing more is made', async () => {
    const [user] = await grantees(p, 1);
    receiver.reply(500);
    await protocolBegan(p, user!);
    await untilStatuses(p, subscription.id, ['retrying']);
    await p.sql(`update identity.oauth_grant set status = 'revoked', version = version + 1 where user_id = $1`, [user]);
    await midnight();
    const [one] = await until(
      'the grant',
      () => p.sql('select scopes from webhooks.grant_projection where user_id = $1', [user]),
      rows => Object.keys(rows[0].scopes).length === 0,
    );
    expect(one.scopes).toEqual({});
    const statuses = (await call(p, 'GET', `/v1/webhook-deliveries?user_id=${user}`)).body.data.map((each: any) => each.status);
    expect(statuses).toEqual(['cancelled']);
  });

  test('an hourly sweep compares a 24th of the grants, so that a day covers each exactly once', async () => {
    const users = await grantees(p, 60);
    await p.sql(`update identity.oauth_grant set status = 'revoked', version = version + 1 where user_id = any($1)`, [users]);
    const open = async (): Promise<number> =>
      (await p.sql(`select from webhooks.grant_projection where user_id = any($1) and scopes <> '{}'`, [users])).length;
    const ended: number[] = [];
    for (let hour = 0; hour < 24; hour++) {
      const before = await open();
      await p.host('webhooks').read(ctx => hourly.run(ctx, new Date(Date.UTC(2027, 5, 1, 7 + hour))));
      ended.push(before - (await open()));
    }
    expect(ended.reduce((sum, one) => sum + one, 0)).toBe(60);
    expect(Math.max(...ended)).toBeLessThan(30); // no hour does the work of the day
  });
});
