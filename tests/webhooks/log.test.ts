import { createHmac } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import {
  call,
  callAs,
  consent,
  deliveriesOf,
  PROMPTED,
  prompted,
  PROTOCOL,
  protocolBegan,
  subscribe,
  untilStatuses,
  type Subscribed,
} from './fixture.js';

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;
let token: string;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' });
  token = await p.serviceToken();
  await p.clock('webhooks', { now: new Date().toISOString() });
});

beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url);
});

const post = (path: string, body?: object) => call(p, 'POST', path, body);

/** A delivery that all six attempts failed for. */
async function deadLetter(): Promise<any> {
  receiver.reply(500);
  await protocolBegan(p, DEMO);
  await untilStatuses(p, subscription.id, ['retrying']);
  await p.clock('webhooks', { advance: 'PT15H' });
  return (await untilStatuses(p, subscription.id, ['dead_lettered']))[0];
}

describe('the attempts log', () => {
  test('shows every attempt of the last 24 hours over all deliveries, newest first, filtered and paged', async () => {
    const dead = await deadLetter();
    receiver.reply(200);
    await prompted(p, DEMO);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered']);
    const log = async (filter = '') =>
      (await call(p, 'GET', `/v1/webhook-attempts?subscription_id=${subscription.id}${filter}`)).body.data as any[];
    const all = await log();
    expect(all.map(one => [one.event_type, one.number, one.status_code])).toEqual([
      [PROMPTED, 1, 200],
      ...[6, 5, 4, 3, 2, 1].map(number => [PROTOCOL, number, 500]),
    ]);
    expect(all[1]).toMatchObject({ delivery_id: dead.id, subscription_id: subscription.id, error: 'http_status', trigger: 'schedule' });
    expect(all[1].request_headers).toMatchObject({ 'X-Platform-Signature': '***', 'X-Platform-Delivery-Attempt': '6' });
    expect(await log('&succeeded=true')).toHaveLength(1);
    expect(await log('&succeeded=false')).toHaveLength(6);
    expect(await log('&status_code=500&error=http_status&trigger=schedule&client_id=demo-app')).toHaveLength(6);
    expect(await log(`&event_type=${PROMPTED}`)).toHaveLength(1);
    expect(await log('&trigger=replay')).toEqual([]);
    expect(await log('&client_id=demo-partner-app')).toEqual([]);
    const first = await call(p, 'GET', `/v1/webhook-attempts?subscription_id=${subscription.id}&limit=2`);
    const second = await log(`&limit=2&cursor=${first.body.next_cursor}`);
    expect([...first.body.data, ...second].map((one: any) => one.id)).toEqual(all.slice(0, 4).map(one => one.id));
    await p.clock('webhooks', { advance: 'P2D' });
    expect(await log()).toEqual([]);
    expect(await log(`&from=${new Date(Date.parse(all[0].started_at) - 86_400_000).toISOString()}`)).toHaveLength(7);
  });

  test.each([
    ['from=2027-01-01T00:00:00.000Z&to=2027-01-09T00:00:00.000Z', '/from', 'at most 7 days'],
    ['from=2027-01-02T00:00:00.000Z&to=2027-01-01T00:00:00.000Z', '/to', 'before the beginning'],
  ])('refuses the window %s', async (window, pointer, message) => {
    const answer = await call(p, 'GET', `/v1/webhook-attempts?${window}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer, message: expect.stringContaining(message) }] } });
  });
});

describe('statistics', () => {
  test('count what was delivered, failed, died and waits, over an hour, a day or a week', async () => {
    const stats = async (window: string) =>
      (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}/stats?window=${window}`)).body;
    expect(await stats('hour')).toEqual({
      delivered: 0,
      failed_attempts: 0,
      dead_lettered: 0,
      pending: 0,
      blocked_users: 0,
      success_rate: null,
      latency_p50_ms: null,
      latency_p95_ms: null,
      oldest_pending_seconds: null,
    });
    await deadLetter();
    await prompted(p, DEMO, 1);
    await prompted(p, DEMO, 2);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'retrying', 'pending']);
    await p.clock('webhooks', { advance: 'PT30S' });
    expect(await stats('day')).toMatchObject({
      delivered: 0,
      failed_attempts: 7,
      dead_lettered: 1,
      pending: 2,
      blocked_users: 1,
      success_rate: 0,
      oldest_pending_seconds: 30,
    });
    receiver.reply(200);
    await p.clock('webhooks', { advance: 'PT30S' });
    await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered', 'delivered']);
    const week = await stats('week');
    expect(week).toMatchObject({ delivered: 2, failed_attempts: 7, pending: 0, blocked_users: 0, oldest_pending_seconds: null });
    expect(week.success_rate).toBeCloseTo(2 / 9);
    expect(week.latency_p95_ms).toBeGreaterThanOrEqual(week.latency_p50_ms);
    expect(await stats('hour')).toMatchObject({ failed_attempts: 2, delivered: 2, dead_lettered: 1 }); // attempts 6 and 1 of the last hour
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}/stats?window=month`)).status).toBe(400);
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${DEMO}/stats`)).status).toBe(404);
  });
});

describe('a dead letter', () => {
  test('that is discarded is cancelled and resolved, once', async () => {
    const dead = await deadLetter();
    const answer = await post(`/v1/webhook-dead-letters/${dead.id}/discard`);
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'cancelled', cancel_reason: 'discarded', dead_letter_reason: 'retries_exhausted', resolved_at: expect.any(String) },
    });
    expect(await post(`/v1/webhook-dead-letters/${dead.id}/discard`)).toMatchObject({ status: 409 });
    expect((await call(p, 'GET', `/v1/webhook-dead-letters?subscription_id=${subscription.id}`)).body.data).toEqual([]);
    expect((await post(`/v1/webhook-dead-letters/${DEMO}/discard`)).status).toBe(404);
    const [audit] = await p.sql(`select details from webhooks.audit_log where action = 'webhook_dead_letter.discarded' and target = $1`, [
      dead.id,
    ]);
    expect(audit.details).toEqual({ event_id: dead.event_id, reason: 'retries_exhausted' });
  });

  test('is replayed by its own path: a new delivery, attempts from 1, and it is resolved when that arrives', async () => {
    const dead = await deadLetter();
    receiver.reply(200);
    const answer = await post(`/v1/webhook-deliveries/${dead.id}/replay`);
    expect(answer).toMatchObject({
      status: 202,
      body: { status: 'pending', replay_of: dead.id, event_id: dead.event_id, attempt_count: 0 },
    });
    const [resolved, replay] = await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered']);
    expect([resolved.resolved_at, replay.attempt_count]).toEqual([expect.any(String), 1]);
    expect(receiver.received.at(-1)!.headers).toMatchObject({ 'x-platform-replay': 'true', 'x-platform-delivery-attempt': '1' });
    expect((await post(`/v1/webhook-deliveries/${replay.id}/replay`)).status).toBe(202);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered', 'delivered']);
  });

  test('is not replayed while it is open, or one of its event waits, or the subscription is disabled', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO);
    const [open] = await untilStatuses(p, subscription.id, ['retrying']);
    expect(await post(`/v1/webhook-deliveries/${open.id}/replay`)).toMatchObject({ status: 409, body: { reason: 'retrying' } });
    await p.clock('webhooks', { advance: 'PT15H' });
    await post(`/v1/webhook-subscriptions/${subscription.id}/pause`);
    expect((await post(`/v1/webhook-deliveries/${open.id}/replay`)).status).toBe(202);
    expect(await post(`/v1/webhook-deliveries/${open.id}/replay`)).toMatchObject({ status: 409, body: { reason: 'already_queued' } });
    await post(`/v1/webhook-subscriptions/${subscription.id}/disable`, { reason: 'x' });
    expect(await post(`/v1/webhook-deliveries/${open.id}/replay`)).toMatchObject({
      status: 409,
      body: { reason: 'subscription_disabled' },
    });
    expect((await post(`/v1/webhook-deliveries/${DEMO}/replay`)).status).toBe(404);
  });
});

describe("the member's own view", () => {
  test('lists which app got which event when, without payload; a repetition counts', async () => {
    await consent(p, DEMO2, 'demo-app', ['read:my_outcomes', 'read:protocols']);
    const eventId = await protocolBegan(p, DEMO2);
    await untilStatuses(p, subscription.id, ['delivered']);
    await post(`/v1/webhooks/${eventId}/replay`);
    await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
    await prompted(p, DEMO2);
    await untilStatuses(p, subscription.id, ['delivered', 'delivered', 'delivered']);
    const me = await p.userToken(DEMO2, ['manage:connected_apps']);
    const mine = async (query = '') => (await callAs(p, me, 'GET', `/v1/webhook-deliveries/me${query}`)).body;
    const all = await mine();
    expect(all.data.map((one: any) => [one.event_type, one.count])).toEqual(
      expect.arrayContaining([
        [PROTOCOL, 2],
        [PROMPTED, 1],
      ]),
    );
    expect(Object.keys(all.data[0]).sort()).toEqual(['client', 'count', 'delivered_at', 'event_type', 'occurred_at']);
    expect(all.data[0].client).toEqual({ id: 'demo-app', name: 'Demo app' });
    expect(await mine('?client_id=demo-partner-app')).toEqual({ data: [], next_cursor: null });
    const first = await mine('?limit=1');
    expect([...first.data, ...(await mine(`?limit=1&cursor=${first.next_cursor}`)).data]).toEqual(all.data.slice(0, 2));
    expect((await callAs(p, me, 'GET', '/v1/webhook-deliveries/me?cursor=x')).status).toBe(400);
    const graph = await p.graphql(
      `{ me { webhookDisclosures(first: 5) { nodes { eventType count client { name } } } } }`,
      {},
      {
        token: await p.userToken(DEMO2, ['manage:connected_apps', 'read:account']),
      },
    );
    expect(graph.data.me.webhookDisclosures.nodes).toHaveLength(all.data.length);
    const other = await p.userToken(DEMO, ['manage:connected_apps']);
    expect(JSON.stringify((await callAs(p, other, 'GET', '/v1/webhook-deliveries/me')).body)).not.toContain(eventId);
    expect((await callAs(p, await p.userToken(DEMO2, ['read:account']), 'GET', '/v1/webhook-deliveries/me')).status).toBe(403);
    expect((await callAs(p, token, 'GET', '/v1/webhook-deliveries/me')).status).toBe(403);
    expect((await callAs(p, null, 'GET', '/v1/webhook-deliveries/me')).status).toBe(401);
  });
});

describe('in the federation', () => {
  test('an event shows its deliveries, a client its subscriptions and health, in one question', async () => {
    const eventId = await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    const query = `query PortalHome($c: ID!, $e: ID!) {
      oauthClient(id: $c) { name scopes webhookHealth { active failing disabled deadLetters }
        webhookSubscriptions(first: 20) { nodes { id url status circuit { state } stats(window: DAY) { delivered deadLettered successRate latencyP95Ms oldestPendingSeconds } } } }
      platformEvent(id: $e) { type webhookDeliveries(clientId: $c, first: 10) { nodes { status attemptCount subscription { url } event { type } } } }
      webhookDeadLetters(clientId: $c, first: 5) { nodes { eventType deadLetterReason lastStatusCode finishedAt } } }`
      .replace('clientId: $c, first: 10', 'clientId: "demo-app", first: 10')
      .replace('clientId: $c, first: 5', 'clientId: "demo-app", first: 5');
    const answer = await p.graphql(query, { c: 'demo-app', e: eventId }, { token });
    expect(answer.errors).toEqual([]);
    expect(answer.data.oauthClient.webhookHealth).toMatchObject({ active: 1, failing: 0, disabled: 0 });
    expect(answer.data.oauthClient.webhookSubscriptions.nodes).toMatchObject([
      { id: subscription.id, status: 'ACTIVE', circuit: { state: 'CLOSED' }, stats: { delivered: 1, successRate: 1 } },
    ]);
    expect(answer.data.platformEvent).toEqual({
      type: PROTOCOL,
      webhookDeliveries: {
        nodes: [{ status: 'DELIVERED', attemptCount: 1, subscription: { url: subscription.url }, event: { type: PROTOCOL } }],
      },
    });
    expect(await deliveriesOf(p, subscription.id)).toHaveLength(1);
  });

  test('an event type says what a client may do with it, with an example that is signed as a delivery is', async () => {
    const query = `query ($name: String!) { eventType(name: $name) { granted(clientId: "demo-app") subscribable(clientId: "demo-app") webhookExample(clientId: "demo-app")
      sampleSignature { secret body signature } } }`;
    const asked = await p.graphql(query, { name: PROTOCOL }, { token });
    expect(asked.errors).toEqual([]);
    const { eventType } = asked.data;
    expect(eventType).toMatchObject({ granted: true, subscribable: true, webhookExample: { type: PROTOCOL, client_id: 'demo-app' } });
    const { secret, body, signature } = eventType.sampleSignature;
    expect(createHmac('sha256', secret).update(body).digest('hex')).toBe(signature);
    expect(Object.keys(JSON.parse(body))).toEqual(['id', 'type', 'user_id', 'client_id', 'occurred_at', 'data']);
    const unscoped = await p.graphql(query, { name: 'user.erasure_requested.v1' }, { token });
    expect(unscoped.data.eventType).toEqual({ granted: false, subscribable: false, webhookExample: null, sampleSignature: null });
    const foreign = await p.graphql(query, { name: PROTOCOL }, { token: await p.internalToken('cash') });
    expect(foreign.errors.map(one => one.extensions.code)).toContain('INSUFFICIENT_SCOPE');
  });
});
