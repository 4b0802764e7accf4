import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { redFlagDetected } from '../../events/catalogue/clinical.js';
import { configurationOf } from '../../subgraphs/webhooks/commands/configuration.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { askedDuring } from '../support/statements.js';
import { until } from '../support/until.js';
import {
  call,
  consent,
  deliveriesOf,
  emit,
  expectSigned,
  PROMPTED,
  prompted,
  PROTOCOL,
  protocolBegan,
  revoke,
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
  await consent(p, DEMO2, 'demo-app', ['read:my_outcomes', 'read:protocols']);
});

/** Each test has a receiver and a subscription of its own; those of the others are deleted. */
beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url);
});

const attemptsOf = async (deliveryId: string): Promise<any[]> =>
  (await call(p, 'GET', `/v1/webhook-deliveries/${deliveryId}/attempts`)).body.data;

describe('a delivery', () => {
  test('is one POST with the four headers, a body of exactly six keys and a signature over its raw bytes', async () => {
    const id = await protocolBegan(p, DEMO);
    const [one] = await receiver.until(all => all.length === 1);
    expect(Object.keys(one!.body)).toEqual(['id', 'type', 'user_id', 'client_id', 'occurred_at', 'data']);
    expect(one!.body).toMatchObject({
      id,
      type: PROTOCOL,
      user_id: DEMO,
      client_id: 'demo-app',
      data: { protocol: 'lipid_reset', version: 1 },
    });
    expect(one!.raw.toString('utf8')).toBe(JSON.stringify(one!.body));
    expect(one!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Platform-Webhooks/1',
      'x-platform-event-id': id,
      'x-platform-event-type': PROTOCOL,
      'x-platform-delivery-attempt': '1',
    });
    expectSigned(one!, subscription.signing_secret);
    const [delivery] = await untilStatuses(p, subscription.id, ['delivered']);
    expect(delivery).toMatchObject({
      event_id: id,
      attempt_count: 1,
      max_attempts: 6,
      last_status_code: 200,
      last_error: null,
      waiting_for: null,
      next_attempt_at: null,
    });
    expect(one!.headers['x-platform-delivery-id']).toBe(delivery.id);
    expect(receiver.received).toHaveLength(1);
  });

  test('of a type that is not in the filter is not made, nor one for a user without a grant', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [PROTOCOL] });
    await untilIngested(p, await prompted(p, DEMO));
    const stranger = '0190b3a0-0000-7000-8000-00000000beef';
    await untilIngested(p, await protocolBegan(p, stranger));
    expect(await deliveriesOf(p, subscription.id)).toEqual([]);
    expect(await p.sql('select 1 from webhooks.webhook_delivery where user_id = $1', [stranger])).toEqual([]);
  });

  test('that nobody wants costs one message: the configuration is read as the event is taken up, and the commit goes with it', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [PROTOCOL] });
    const asked = await askedDuring(p, async () => untilIngested(p, await prompted(p, DEMO)));
    const entries = asked.map(({ text }) => text).filter(text => text.includes('webhooks.enter_user'));
    expect(entries).toEqual([expect.stringMatching(/^insert into webhooks\.inbox [^]* and commit \*\/$/)]);
  });

  test('is made also where this process does not know yet that somebody wants it', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [PROTOCOL] });
    await untilIngested(p, await prompted(p, DEMO)); // the configuration is known
    const configuration = configurationOf(p.host('webhooks'));
    const refresh = configuration.refresh.bind(configuration);
    const blind = vi
      .spyOn(configuration, 'refresh')
      .mockImplementation(async (sql, version) => (version === undefined ? undefined : refresh(sql, version)));
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [PROTOCOL, PROMPTED] });
    expect(configuration.forType(PROMPTED)).toEqual([]);
    const id = await prompted(p, DEMO);
    await receiver.until(all => all.some(one => one.body.id === id));
    blind.mockRestore();
  });

  test('of an urgent red flag is not made, nor by a recovery: clinicians see it first; of a warning it is', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [redFlagDetected.name] });
    const flag = {
      flag_id: subscription.id,
      rule: 'potassium_dangerous',
      source: 'biomarker',
      detected_at: '2026-08-01T08:00:00.000Z',
    } as const;
    const urgent = await emit(p, redFlagDetected, { ...flag, severity: 'urgent' }, DEMO);
    const warning = await emit(p, redFlagDetected, { ...flag, severity: 'warning' }, DEMO);
    await untilIngested(p, urgent);
    await untilStatuses(p, subscription.id, ['delivered']);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { body: job } = await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/recover`, { since });
    const read = async () => (await call(p, 'GET', `/v1/webhook-jobs/${job.id}`)).body;
    await until('the job to end', read, one => one.finished_at !== null);
    const events = new Set((await deliveriesOf(p, subscription.id)).map(one => one.event_id));
    expect([events.has(urgent), events.has(warning)]).toEqual([false, true]);
  });

  test('goes out once however often the bus brings the event', async () => {
    const id = await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    await p.sql(`delete from webhooks.inbox where consumer = 'webhooks.delivery' and event_id = $1`, [id]); // as if the dedupe row were lost
    await p.sql('update events.outbox set published_at = null, position = null where id = $1', [id]);
    await untilIngested(p, id);
    expect(await deliveriesOf(p, subscription.id)).toHaveLength(1);
    await untilIngested(p, await protocolBegan(p, DEMO, 2));
    await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
    expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 2]);
  });

  test('goes to two clients with two bodies and two signatures', async () => {
    await consent(p, DEMO, 'demo-partner-app', ['read:follows']);
    await p.sql(`update identity.oauth_client set first_party = true where id = 'demo-partner-app'`);
    await consent(p, DEMO, 'demo-partner-app', ['read:follows', 'read:protocols']);
    const other = await subscribe(p, receiver.url, [PROTOCOL], { client_id: 'demo-partner-app' });
    await protocolBegan(p, DEMO);
    const all = await receiver.until(received => received.length === 2);
    const byClient = new Map(all.map(one => [one.body.client_id, one]));
    expectSigned(byClient.get('demo-app')!, subscription.signing_secret);
    expectSigned(byClient.get('demo-partner-app')!, other.signing_secret);
    await call(p, 'DELETE', `/v1/webhook-subscriptions/${other.id}`);
    await revoke(p, DEMO, 'demo-partner-app');
  });

  test('bears custom headers, whose values nobody reads again, and the Standard Webhooks headers when asked for', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, {
      headers: [{ name: 'X-Env', value: 'prod-7731' }],
      standard_headers: true,
    });
    await protocolBegan(p, DEMO);
    const [one] = await receiver.until(all => all.length === 1);
    expect(one!.headers).toMatchObject({ 'x-env': 'prod-7731', 'webhook-id': one!.body.id });
    expect(one!.headers['webhook-signature']).toMatch(/^v1,/);
    const [delivery] = await untilStatuses(p, subscription.id, ['delivered']);
    const [attempt] = await attemptsOf(delivery.id);
    expect(attempt.request_headers).toMatchObject({ 'X-Env': '***', 'X-Platform-Signature': '***', 'X-Platform-Event-Id': one!.body.id });
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body.headers).toEqual([{ name: 'X-Env' }]);
  });
});

describe('a failure', () => {
  test('is retried 60, 300, 1,800, 7,200 and 43,200 s after the end of each attempt, with the same bytes, then becomes a dead letter; the next event follows', async () => {
    receiver.reply(500);
    const start = '2026-12-01T08:00:00.000Z';
    await p.clock('webhooks', { now: start });
    const first = await protocolBegan(p, DEMO);
    await receiver.until(all => all.length === 1);
    await protocolBegan(p, DEMO, 2);
    let at = Date.parse(start);
    for (const [index, seconds] of [60, 300, 1800, 7200, 43_200].entries()) {
      const [head] = await untilStatuses(p, subscription.id, ['retrying', 'pending']);
      expect(head).toMatchObject({
        attempt_count: index + 1,
        last_status_code: 500,
        last_error: 'http_status',
        next_attempt_at: new Date(at + seconds * 1000).toISOString(),
      });
      await p.clock('webhooks', { now: new Date(at + seconds * 1000 - 1).toISOString() });
      expect(receiver.received).toHaveLength(index + 1); // never before its time
      await p.clock('webhooks', { advance: 'PT0.001S' });
      expect(receiver.received).toHaveLength(index === 4 ? 7 : index + 2); // after the sixth the next event goes out at once
      at += seconds * 1000;
    }
    const [dead, next] = await untilStatuses(p, subscription.id, ['dead_lettered', 'retrying']);
    expect(dead).toMatchObject({
      event_id: first,
      attempt_count: 6,
      dead_letter_reason: 'retries_exhausted',
      finished_at: new Date(at).toISOString(),
      next_attempt_at: null,
    });
    expect(next).toMatchObject({ attempt_count: 1 }); // the lane went on
    const attempts = (await attemptsOf(dead.id)).reverse();
    expect(attempts.map(one => one.started_at)).toEqual(
      [0, 60, 360, 2160, 9360, 52_560].map(s => new Date(Date.parse(start) + s * 1000).toISOString()),
    );
    const sent = receiver.received.slice(0, 6);
    expect(sent.map(one => one.headers['x-platform-delivery-attempt'])).toEqual(['1', '2', '3', '4', '5', '6']);
    sent.forEach(one => expectSigned(one, subscription.signing_secret));
    expect(new Set(sent.map(one => one.raw.toString('hex'))).size).toBe(1);
    expect(receiver.received[6]!.body.data.version).toBe(2);
    const letters = await call(p, 'GET', `/v1/webhook-dead-letters?subscription_id=${subscription.id}`);
    expect(letters.body.data.map((one: any) => one.id)).toEqual([dead.id]);
  });

  test('moving the clock far at once runs every attempt at its instant', async () => {
    receiver.reply(503);
    const start = Date.parse('2026-12-10T08:00:00.000Z');
    await p.clock('webhooks', { now: new Date(start).toISOString() });
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    await p.clock('webhooks', { advance: 'P1D' });
    const [dead] = await untilStatuses(p, subscription.id, ['dead_lettered']);
    const attempts = (await attemptsOf(dead.id)).reverse();
    expect(attempts.map(one => (Date.parse(one.started_at) - start) / 1000)).toEqual([0, 60, 360, 2160, 9360, 52_560]);
    expect(attempts.map(one => one.number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('is retried after the end of a long attempt, not after its beginning', async () => {
    const held: (() => void)[] = [];
    receiver.reply((_one, response) => void held.push(() => response.writeHead(500).end()));
    const start = '2026-12-12T08:00:00.000Z';
    await p.clock('webhooks', { now: start });
    await protocolBegan(p, DEMO);
    await receiver.until(all => all.length === 1);
    await p.sql("update webhooks.test_clock set now = now + interval '7 seconds'"); // while the attempt is in the air
    held.forEach(answer => answer());
    const [delivery] = await untilStatuses(p, subscription.id, ['retrying']);
    expect(delivery.next_attempt_at).toBe(new Date(Date.parse(start) + 67_000).toISOString());
  });

  test('blocks its user at its subscription and nobody else: E1, E1, E2 of one user, E3 of another at once', async () => {
    let failures = 1;
    receiver.reply((one, response) => void response.writeHead(one.body.user_id === DEMO && failures-- > 0 ? 500 : 200).end());
    const e1 = await protocolBegan(p, DEMO, 1);
    await untilStatuses(p, subscription.id, ['retrying']);
    const e2 = await protocolBegan(p, DEMO, 2);
    await untilIngested(p, e2); // between users there is no order, so the list would have none
    await protocolBegan(p, DEMO2, 3);
    const all = await untilStatuses(p, subscription.id, ['retrying', 'pending', 'delivered']);
    expect(all[1]).toMatchObject({ event_id: e2, waiting_for: 'head_of_line', blocked_by: all[0].id, attempt_count: 0 });
    expect(
      (await call(p, 'GET', `/v1/webhook-deliveries?subscription_id=${subscription.id}&waiting_for=head_of_line`)).body.data.map(
        (one: any) => one.id,
      ),
    ).toEqual([all[1].id]);
    await p.clock('webhooks', { advance: 'PT60S' });
    await untilStatuses(p, subscription.id, ['delivered', 'delivered', 'delivered']);
    const ofDemo = receiver.received.filter(one => one.body.user_id === DEMO);
    expect(ofDemo.map(one => [one.body.id, one.headers['x-platform-delivery-attempt']])).toEqual([
      [e1, '1'],
      [e1, '2'],
      [e2, '1'],
    ]);
  });

  test('a redirect is a failure and is not followed', async () => {
    const other = await p.receiver();
    receiver.reply((_one, response) => void response.writeHead(302, { location: other.url }).end());
    await protocolBegan(p, DEMO);
    const [delivery] = await untilStatuses(p, subscription.id, ['retrying']);
    expect(delivery).toMatchObject({ last_error: 'redirect', last_status_code: 302 });
    expect(other.received).toEqual([]);
  });

  test('a receiver that answers after the deadline is a time-out, and is retried', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { timeout_ms: 1000 });
    const held: (() => void)[] = [];
    receiver.reply((_one, response) => void held.push(() => response.writeHead(200).end()));
    await protocolBegan(p, DEMO);
    const [delivery] = await untilStatuses(p, subscription.id, ['retrying']);
    expect(delivery).toMatchObject({ last_error: 'timeout', last_status_code: null, attempt_count: 1 });
    held.forEach(answer => answer());
    receiver.reply(200);
    await p.clock('webhooks', { advance: 'PT1M' });
    await untilStatuses(p, subscription.id, ['delivered']);
  });

  test('is kept with what the receiver answered: masked, at most 4 KiB, without cookies', async () => {
    receiver.reply(
      (_one, response) =>
        void response
          .writeHead(400, { 'set-cookie': 'a=b', 'x-why': 'no' })
          .end(`call +1 555 123 4567 or mail a@b.example${'.'.repeat(5000)}`),
    );
    await protocolBegan(p, DEMO);
    const [delivery] = await untilStatuses(p, subscription.id, ['retrying']);
    const [attempt] = await attemptsOf(delivery.id);
    expect(attempt).toMatchObject({
      number: 1,
      status_code: 400,
      error: 'http_status',
      url: receiver.url,
      resolved_ip: '127.0.0.1',
      response_truncated: true,
      trigger: 'schedule',
    });
    expect(attempt.response_headers).toMatchObject({ 'x-why': 'no' });
    expect(attempt.response_headers['set-cookie']).toBeUndefined();
    expect(attempt.response_body.startsWith('call *** or mail ***')).toBe(true);
    expect(attempt.response_body.length).toBeLessThanOrEqual(4096);
    expect(attempt.timings.total_ms ?? attempt.timings.totalMs).toBeGreaterThanOrEqual(0);
    const [stored] = await p.sql(`select response_body_sealed as sealed from webhooks.webhook_attempt where delivery_id = $1`, [
      delivery.id,
    ]);
    expect(stored.sealed.includes('mail')).toBe(false);
  });
});

describe('a grant', () => {
  test('that is revoked stops the queue in order, and one that is given again does not bring it back', async () => {
    receiver.reply(500);
    const e1 = await protocolBegan(p, DEMO2, 1);
    await untilStatuses(p, subscription.id, ['retrying']);
    await protocolBegan(p, DEMO2, 2);
    await untilStatuses(p, subscription.id, ['retrying', 'pending']);
    await revoke(p, DEMO2, 'demo-app');
    const cancelled = await untilStatuses(p, subscription.id, ['cancelled', 'cancelled']);
    expect(cancelled.map(one => one.cancel_reason)).toEqual(['grant_revoked', 'grant_revoked']);
    await untilIngested(p, await protocolBegan(p, DEMO2, 3));
    await p.clock('webhooks', { advance: 'PT2M' });
    expect(await deliveriesOf(p, subscription.id)).toHaveLength(2);
    expect(receiver.received).toHaveLength(1);
    expect((await call(p, 'POST', `/v1/webhooks/${e1}/replay`)).status).toBe(403);

    receiver.reply(200);
    await consent(p, DEMO2, 'demo-app', ['read:protocols']);
    await protocolBegan(p, DEMO2, 4);
    await untilStatuses(p, subscription.id, ['cancelled', 'cancelled', 'delivered']);
    expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 4]);
    expect((await call(p, 'POST', `/v1/webhooks/${e1}/replay`)).body).toMatchObject({
      status: 403,
      code: 'forbidden',
      reason: 'grant_inactive',
    });
  });

  test('that loses one scope stops the types of that scope only', async () => {
    receiver.reply(500);
    await consent(p, DEMO2, 'demo-app', ['read:my_outcomes', 'read:protocols']);
    await prompted(p, DEMO2);
    await untilStatuses(p, subscription.id, ['retrying']);
    await protocolBegan(p, DEMO2);
    await untilStatuses(p, subscription.id, ['retrying', 'pending']);
    await p.sql(
      `update identity.oauth_grant set scopes = '{read:protocols}' where user_id = $1 and client_id = 'demo-app' and status <> 'revoked'`,
      [DEMO2],
    );
    await consent(p, DEMO2, 'demo-app', ['read:protocols', 'read:profile']);
    const [lost, kept] = await untilStatuses(p, subscription.id, ['cancelled', 'retrying']);
    expect([lost.event_type, kept.event_type]).toEqual([PROMPTED, PROTOCOL]);
  });

  test('that no event has told of is asked of identity', async () => {
    await p.sql('delete from webhooks.grant_projection where user_id = $1', [DEMO]);
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    const [row] = await p.sql(
      `select scopes -> 'read:protocols' ->> 'seq' as seq from webhooks.grant_projection where user_id = $1 and client_id = 'demo-app'`,
      [DEMO],
    );
    expect(row).toEqual({ seq: null });
  });
});

describe('a pause', () => {
  test('holds events back; a resume sends them in order', async () => {
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/pause`);
    for (const version of [1, 2, 3]) await protocolBegan(p, DEMO, version);
    const held = await untilStatuses(p, subscription.id, ['pending', 'pending', 'pending']);
    expect(held.map(one => one.waiting_for)).toEqual(['paused', 'head_of_line', 'head_of_line']);
    await p.clock('webhooks', { advance: 'PT1M' });
    expect(receiver.received).toEqual([]);
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/resume`);
    await untilStatuses(p, subscription.id, ['delivered', 'delivered', 'delivered']);
    expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 2, 3]);
  });

  test('that outlasts a retry lets it run at once when it ends', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/pause`);
    await p.clock('webhooks', { advance: 'PT1H' });
    expect(receiver.received).toHaveLength(1);
    receiver.reply(200);
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/resume`);
    await untilStatuses(p, subscription.id, ['delivered']);
    expect(receiver.received.map(one => one.headers['x-platform-delivery-attempt'])).toEqual(['1', '2']);
  });
});

describe('a change of the filter, a disabling, a deletion', () => {
  beforeEach(async () => {
    receiver.reply(500);
    await prompted(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying', 'pending']);
  });

  test('cancels what left the filter and lets the lane go on', async () => {
    receiver.reply(200);
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [PROTOCOL] });
    const [lost] = await untilStatuses(p, subscription.id, ['cancelled', 'delivered']);
    expect(lost).toMatchObject({ cancel_reason: 'filter_changed', event_type: PROMPTED });
  });

  test('makes dead letters of what is open, and nothing new while it is disabled', async () => {
    const disabled = await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/disable`, { reason: 'asked for by the owner' });
    expect(disabled.body).toMatchObject({ status: 'disabled', disabled_reason: 'admin' });
    const dead = await untilStatuses(p, subscription.id, ['dead_lettered', 'dead_lettered']);
    expect(dead.map(one => one.dead_letter_reason)).toEqual(['subscription_disabled', 'subscription_disabled']);
    await untilIngested(p, await protocolBegan(p, DEMO));
    expect(await deliveriesOf(p, subscription.id)).toHaveLength(2);
    receiver.reply(200);
    expect((await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/enable`)).body).toMatchObject({
      status: 'active',
      disabled_reason: null,
      failing_since: null,
    });
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'dead_lettered', 'delivered']);
  });

  test('cancels what is open and forgets the secrets; the history stays', async () => {
    expect((await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`)).status).toBe(204);
    const cancelled = await untilStatuses(p, subscription.id, ['cancelled', 'cancelled']);
    expect(cancelled.map(one => one.cancel_reason)).toEqual(['subscription_deleted', 'subscription_deleted']);
    expect(await p.sql('select 1 from webhooks.webhook_secret where subscription_id = $1', [subscription.id])).toEqual([]);
    await p.clock('webhooks', { advance: 'PT2M' });
    expect(receiver.received).toHaveLength(1);
  });
});

test('the health of an endpoint follows its attempts', async () => {
  receiver.reply(500);
  await protocolBegan(p, DEMO);
  await untilStatuses(p, subscription.id, ['retrying']);
  const failing = (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body;
  expect(failing.failing_since).not.toBeNull();
  expect(failing).toMatchObject({ last_success_at: null, last_failure_at: failing.failing_since });
  receiver.reply(200);
  await p.clock('webhooks', { advance: 'PT1M' });
  await untilStatuses(p, subscription.id, ['delivered']);
  const well = await until(
    'health',
    () => call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`),
    answer => answer.body.failing_since === null,
  );
  expect(Date.parse(well.body.last_success_at)).toBe(Date.parse(failing.failing_since) + 60_000);
});
