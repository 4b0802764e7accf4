import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import {
  call,
  deliveriesOf,
  expectSigned,
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

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run' });
});

beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url);
});

const replay = (eventId: string, body?: object, headers?: Record<string, string>) =>
  call(p, 'POST', `/v1/webhooks/${eventId}/replay`, body, headers);

describe('POST /v1/webhooks/{event_id}/replay', () => {
  test('sends a delivered event again: same id, same bytes, marked as a replay, attempts from 1', async () => {
    const eventId = await protocolBegan(p, DEMO);
    const [original] = await untilStatuses(p, subscription.id, ['delivered']);
    const answer = await replay(eventId);
    expect(answer).toMatchObject({
      status: 202,
      body: {
        event_id: eventId,
        deliveries: [{ subscription_id: subscription.id, action: 'created', status: 'pending', replay_of: original.id, reason: null }],
      },
    });
    const [, again] = await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
    expect(again).toMatchObject({ id: answer.body.deliveries[0].id, replay_of: original.id, attempt_count: 1 });
    const [one, two] = receiver.received;
    expect(two!.raw.equals(one!.raw)).toBe(true);
    expect(two!.headers).toMatchObject({ 'x-platform-replay': 'true', 'x-platform-delivery-attempt': '1', 'x-platform-event-id': eventId });
    expect(one!.headers['x-platform-replay']).toBeUndefined();
    expectSigned(two!, subscription.signing_secret);
  });

  test('of the blocked head attempts it at once, and counts as its next attempt', async () => {
    receiver.reply(500);
    const eventId = await protocolBegan(p, DEMO);
    const [head] = await untilStatuses(p, subscription.id, ['retrying']);
    receiver.reply(200);
    const answer = await replay(eventId);
    expect(answer.body.deliveries).toMatchObject([{ id: head.id, action: 'retried_now' }]);
    await untilStatuses(p, subscription.id, ['delivered']);
    expect(receiver.received.map(one => one.headers['x-platform-delivery-attempt'])).toEqual(['1', '2']);
    const [last] = (await call(p, 'GET', `/v1/webhook-deliveries/${head.id}/attempts`)).body.data;
    expect(last).toMatchObject({ number: 2, trigger: 'retry_now' });
  });

  test('of an event that waits behind its head changes nothing', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO, 1);
    await untilStatuses(p, subscription.id, ['retrying']);
    const second = await protocolBegan(p, DEMO, 2);
    await untilStatuses(p, subscription.id, ['retrying', 'pending']);
    expect((await replay(second)).body.deliveries).toMatchObject([{ action: 'already_queued', status: 'pending' }]);
    expect(await deliveriesOf(p, subscription.id)).toHaveLength(2);
  });

  test('takes its place in the order of its user: before newer events that wait', async () => {
    const first = await protocolBegan(p, DEMO, 1);
    await untilStatuses(p, subscription.id, ['delivered']);
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/pause`);
    await protocolBegan(p, DEMO, 2);
    await protocolBegan(p, DEMO, 3);
    await untilStatuses(p, subscription.id, ['delivered', 'pending', 'pending']);
    expect((await replay(first)).body.deliveries).toMatchObject([{ action: 'created' }]);
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/resume`);
    const all = await receiver.until(received => received.length === 4);
    expect(all.map(one => one.body.data.version)).toEqual([1, 1, 2, 3]);
  });

  test('before a newer head in retry: the replay goes first, the head at its own time', async () => {
    const first = await protocolBegan(p, DEMO, 1);
    await untilStatuses(p, subscription.id, ['delivered']);
    receiver.reply(500);
    await protocolBegan(p, DEMO, 2);
    const [, head] = await untilStatuses(p, subscription.id, ['delivered', 'retrying']);
    receiver.reply(200);
    await replay(first);
    const [, after] = await untilStatuses(p, subscription.id, ['delivered', 'retrying', 'delivered']);
    expect(after.next_attempt_at).toBe(head.next_attempt_at);
    await p.clock('webhooks', { advance: 'PT60S' });
    await untilStatuses(p, subscription.id, ['delivered', 'delivered', 'delivered']);
    expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 2, 1, 2]);
  });

  test('of a dead letter resolves it once it is delivered', async () => {
    receiver.reply(500);
    const eventId = await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    await p.clock('webhooks', { advance: 'P1D' });
    const [dead] = await untilStatuses(p, subscription.id, ['dead_lettered']);
    const letters = async (filter = '') =>
      (await call(p, 'GET', `/v1/webhook-dead-letters?subscription_id=${subscription.id}${filter}`)).body.data.map((one: any) => one.id);
    expect(await letters()).toEqual([dead.id]);
    expect(await letters('&reason=backlog_overflow')).toEqual([]);
    receiver.reply(200);
    await replay(eventId);
    const [resolved] = await untilStatuses(p, subscription.id, ['dead_lettered', 'delivered']);
    expect(resolved.resolved_at).not.toBeNull();
    expect(await letters()).toEqual([]);
    expect(await letters('&resolved=true')).toEqual([dead.id]);
  });

  test('can be narrowed to a client or a subscription, and answers the same for a repeated Idempotency-Key', async () => {
    const other = await subscribe(p, `${receiver.url}/other`, [PROTOCOL]);
    const eventId = await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    await untilStatuses(p, other.id, ['delivered']);
    const headers = { 'idempotency-key': 'replay-1' };
    const [one, two] = [
      await replay(eventId, { subscription_id: other.id }, headers),
      await replay(eventId, { subscription_id: other.id }, headers),
    ];
    expect(two.body).toEqual(one.body);
    expect(one.body.deliveries.map((each: any) => each.subscription_id)).toEqual([other.id]);
    await untilStatuses(p, other.id, ['delivered', 'delivered']);
    expect((await replay(eventId, { client_id: 'demo-partner-app' })).status).toBe(404);
    expect((await replay(eventId)).body.deliveries).toHaveLength(2);
    await call(p, 'DELETE', `/v1/webhook-subscriptions/${other.id}`);
  });

  test('of an event that nobody got is a 404; of a disabled subscription or a lost type a 409', async () => {
    for (const unknown of ['0190b3a0-0000-7000-8000-00000000dead', 'not-an-id']) expect((await replay(unknown)).status).toBe(404);
    const eventId = await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    expect(await replay(eventId, { subscription_id: 'x' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/subscription_id' }] },
    });
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { event_types: [PROMPTED] });
    expect(await replay(eventId)).toMatchObject({ status: 409, body: { reason: 'type_not_in_filter' } });
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/disable`, { reason: 'test' });
    expect(await replay(eventId)).toMatchObject({ status: 409, body: { reason: 'subscription_disabled' } });
    await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
    expect((await replay(eventId)).status).toBe(404);
    subscription = await subscribe(p, `${receiver.url}/next`);
  });

  test('of one event twenty times at once makes twenty deliveries or says that one waits, and never two heads', async () => {
    const eventId = await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    const answers = await Promise.all(Array.from({ length: 20 }, () => replay(eventId)));
    expect(answers.map(answer => answer.status)).toEqual(Array(20).fill(202));
    const created = answers.filter(answer => answer.body.deliveries[0].action === 'created').length;
    await untilStatuses(p, subscription.id, Array<string>(created + 1).fill('delivered'));
    expect(receiver.received).toHaveLength(created + 1);
    expect(await p.sql('select 1 from webhooks.webhook_lane where subscription_id = $1', [subscription.id])).toEqual([]);
  });
});

describe('POST /v1/webhook-deliveries/{id}/retry', () => {
  const retry = (id: string) => call(p, 'POST', `/v1/webhook-deliveries/${id}/retry`);

  test('attempts the blocked head at once; its schedule goes on from there', async () => {
    receiver.reply(500);
    await p.clock('webhooks', { advance: 'PT1S' });
    await protocolBegan(p, DEMO);
    const [head] = await untilStatuses(p, subscription.id, ['retrying']);
    const answer = await retry(head.id);
    expect(answer).toMatchObject({ status: 202, body: { id: head.id, status: 'retrying' } });
    await receiver.until(all => all.length === 2);
    const [after] = await untilStatuses(p, subscription.id, ['retrying']).then(async all =>
      all[0].attempt_count === 2 ? all : untilAttempt(2),
    );
    expect(Date.parse(after.next_attempt_at) - Date.parse(answer.body.next_attempt_at)).toBe(300_000);
  });

  const untilAttempt = async (number: number): Promise<any[]> => {
    for (;;) {
      const all = await deliveriesOf(p, subscription.id);
      if (all[0].attempt_count === number) return all;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };

  test('is a 409 for anything else', async () => {
    receiver.reply(500);
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['retrying']);
    await prompted(p, DEMO);
    const [head, waiting] = await untilStatuses(p, subscription.id, ['retrying', 'pending']);
    expect(await retry(waiting.id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/pause`);
    expect(await retry(head.id)).toMatchObject({ status: 409, body: { reason: 'subscription_paused' } });
    receiver.reply(200);
    await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/resume`);
    expect((await retry(head.id)).status).toBe(202);
    await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
    expect(await retry(head.id)).toMatchObject({ status: 409 });
    expect((await retry('0190b3a0-0000-7000-8000-00000000dead')).status).toBe(404);
  });
});
