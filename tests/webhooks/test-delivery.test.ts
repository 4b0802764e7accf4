import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { call, deliveriesOf, expectSigned, PROMPTED, PROTOCOL, subscribe, type Subscribed } from './fixture.js';

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run' });
});

beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url, [PROTOCOL], { headers: [{ name: 'X-Env', value: 'prod' }], standard_headers: true });
});

const send = (eventType: string = PROTOCOL) =>
  call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/test`, { event_type: eventType });

describe('POST /v1/webhook-subscriptions/{id}/test', () => {
  test("sends the type's example about nobody, signed and marked as a test, and answers the attempt", async () => {
    const answer = await send();
    expect(answer).toMatchObject({
      status: 200,
      body: {
        number: 1,
        trigger: 'test',
        status_code: 200,
        error: null,
        delivery_id: null,
        event_type: PROTOCOL,
        subscription_id: subscription.id,
      },
    });
    const [received] = receiver.received;
    expectSigned(received!, subscription.signing_secret);
    expect(received!.headers).toMatchObject({
      'x-platform-test': 'true',
      'x-platform-event-type': PROTOCOL,
      'x-platform-event-id': received!.body.id,
      'x-platform-delivery-attempt': '1',
      'x-env': 'prod',
    });
    expect(received!.headers['x-platform-replay']).toBeUndefined();
    expect(received!.body).toMatchObject({ type: PROTOCOL, user_id: '00000000-0000-0000-0000-000000000000', client_id: 'demo-app' });
    expect(Object.keys(received!.body)).toEqual(['id', 'type', 'user_id', 'client_id', 'occurred_at', 'data']);
    const headers = Object.fromEntries(Object.entries(received!.headers).map(([name, value]) => [name, String(value)]));
    expect(new Webhook(subscription.signing_secret.slice('whsec_'.length)).verify(received!.raw.toString(), headers)).toEqual(
      received!.body,
    );
    expect(answer.body.request_headers).toMatchObject({ 'X-Env': '***', 'X-Platform-Signature': '***', 'webhook-signature': '***' });
  });

  test('whatever the receiver says is the answer, and nothing of it counts: no delivery, no health, no replay', async () => {
    receiver.reply((_one, response) => void response.writeHead(503).end('mail me at ops@example.test'));
    const answer = await send();
    expect(answer).toMatchObject({ status: 200, body: { status_code: 503, error: 'http_status', response_body: 'mail me at ***' } });
    await receiver.stop();
    expect((await send()).body).toMatchObject({ status_code: null, error: 'connect_refused' });
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body).toMatchObject({
      failing_since: null,
      last_failure_at: null,
      circuit: { state: 'closed' },
    });
    expect(await deliveriesOf(p, subscription.id)).toEqual([]);
    const log = (await call(p, 'GET', `/v1/webhook-attempts?subscription_id=${subscription.id}&trigger=test`)).body.data;
    expect(log.map((one: any) => one.error)).toEqual(['connect_refused', 'http_status']);
    const eventId = receiver.received[0]!.body.id;
    expect((await call(p, 'POST', `/v1/webhooks/${eventId}/replay`)).status).toBe(404);
    const stats = (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}/stats`)).body;
    expect(stats).toMatchObject({ failed_attempts: 0, success_rate: null });
  });

  test('of a type that is not in the filter is a 400, of an unknown subscription a 404, more than 10 in a minute a 429', async () => {
    expect(await send(PROMPTED)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/event_type', message: 'is not in the filter' }] },
    });
    expect((await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/test`, {})).body.errors[0].pointer).toBe('/event_type');
    expect((await call(p, 'POST', `/v1/webhook-subscriptions/${DEMO}/test`, { event_type: PROTOCOL })).status).toBe(404);
    const statuses = [];
    for (let count = 0; count < 11; count++) statuses.push((await send()).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });
});
