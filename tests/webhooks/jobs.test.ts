import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import {
  call,
  callAs,
  deliveriesOf,
  grantees,
  machineClient,
  PROMPTED,
  prompted,
  PROTOCOL,
  protocolBegan,
  revoke,
  consent,
  subscribe,
  untilIngested,
  untilStatuses,
  type Subscribed,
} from './fixture.js';

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

/** Everything that an order depends on passes the transport of the run. */
beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' });
  await p.clock('webhooks', { now: new Date().toISOString() });
});

beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url);
});

const action = (word: string, body?: object) => call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/${word}`, body);
const bulk = (body: object = {}, headers?: Record<string, string>) =>
  call(p, 'POST', '/v1/webhook-dead-letters/replay', { subscription_id: subscription.id, ...body }, headers);
const recover = (since: string, more: object = {}) => action('recover', { since, ...more });
const finished = (id: string): Promise<any> =>
  until(
    'the job to end',
    async () => (await call(p, 'GET', `/v1/webhook-jobs/${id}`)).body,
    job => job.finished_at !== null,
  );
const versions = (): unknown[] => receiver.received.map(one => one.body.data.version ?? one.body.data.prompt_count);
const anHourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString();
const justNow = (): string => new Date().toISOString();

/** Dead letters of the demo user, one per version. */
async function deadLetters(...numbers: number[]): Promise<any[]> {
  receiver.reply(500);
  const before = (await deliveriesOf(p, subscription.id)).length;
  for (const number of numbers) await protocolBegan(p, DEMO, number);
  await until(
    'them',
    () => deliveriesOf(p, subscription.id),
    all => all.length === before + numbers.length,
  );
  for (const _ of numbers) await p.clock('webhooks', { advance: 'PT15H' });
  const all = await untilStatuses(
    p,
    subscription.id,
    numbers.map(() => 'dead_lettered'),
  );
  receiver.received.length = 0;
  receiver.reply(200);
  return all;
}

describe('POST /v1/webhook-dead-letters/replay', () => {
  test('sends E1 and E2, which are dead, before E3, which a pause holds', async () => {
    await deadLetters(1, 2);
    await action('pause');
    await protocolBegan(p, DEMO, 3);
    await untilStatuses(p, subscription.id, ['dead_lettered', 'dead_lettered', 'pending']);
    const answer = await bulk();
    expect(answer).toMatchObject({ status: 202, body: { kind: 'replay_dead_letters', matched: 2, subscription_id: subscription.id } });
    expect(await finished(answer.body.id)).toMatchObject({ status: 'completed', matched: 2, created: 2, skipped: 0 });
    expect(receiver.received).toEqual([]);
    await action('resume');
    await receiver.until(all => all.length === 3);
    expect(versions()).toEqual([1, 2, 3]);
    expect(receiver.received.map(one => one.headers['x-platform-replay'])).toEqual(['true', 'true', undefined]);
    const letters = await call(p, 'GET', `/v1/webhook-dead-letters?subscription_id=${subscription.id}`);
    await until(
      'them to be resolved',
      async () => (await call(p, 'GET', `/v1/webhook-dead-letters?subscription_id=${subscription.id}`)).body.data,
      all => all.length === 0,
    );
    expect(letters.status).toBe(200);
  });

  test('counts in a dry run, filters, and leaves out what a grant of now does not cover', async () => {
    const [first] = await deadLetters(1);
    expect(await bulk({ dry_run: true })).toMatchObject({ status: 200, body: { matched: 1 } });
    expect((await bulk({ dry_run: true })).body).toEqual({ matched: 1 });
    for (const [filter, matched] of [
      [{ event_types: [PROTOCOL] }, 1],
      [{ event_types: [PROMPTED] }, 0],
      [{ user_id: DEMO }, 1],
      [{ user_id: subscription.id }, 0],
      [{ reason: 'subscription_disabled' }, 0],
      [{ from: first.finished_at }, 1],
      [{ to: first.finished_at }, 0],
    ] as const)
      expect([filter, (await bulk({ ...filter, dry_run: true })).body]).toEqual([filter, { matched }]);
    await revoke(p, DEMO, 'demo-app');
    await consent(p, DEMO, 'demo-app', ['read:protocols', 'read:my_outcomes']);
    await untilIngested(p, await prompted(p, DEMO));
    const { id } = (await bulk()).body;
    expect(await finished(id)).toMatchObject({ status: 'completed', matched: 1, created: 0, skipped: 1 });
  });

  test('is refused for an unknown or disabled subscription, a wrong user, or without one', async () => {
    expect((await bulk({ subscription_id: DEMO })).status).toBe(404);
    expect(await bulk({ user_id: 'x' })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/user_id' }] } });
    expect((await call(p, 'POST', '/v1/webhook-dead-letters/replay', {})).body.errors[0].pointer).toBe('/subscription_id');
    await action('disable', { reason: 'x' });
    expect(await bulk()).toMatchObject({ status: 409, body: { reason: 'subscription_disabled' } });
  });

  test('answers the same job for a repeated Idempotency-Key, which one job at a time allows', async () => {
    await action('pause');
    const headers = { 'idempotency-key': `bulk-${subscription.id}` };
    const [one, two] = [await bulk({}, headers), await bulk({}, headers)];
    expect(two.body.id).toBe(one.body.id);
    await finished(one.body.id);
  });
});

describe('a job', () => {
  test('runs alone for its subscription, can be cancelled, and is found by those who manage the client only', async () => {
    await p.sql(
      `insert into webhooks.webhook_job (id, kind, subscription_id, client_id, status, filter, requested_by, created_at, claimed_until)
       values ($1, 'recover', $1, 'demo-app', 'running', '{}', 'service:test', now(), '2100-01-01')`,
      [subscription.id],
    );
    expect(await bulk()).toMatchObject({ status: 409, body: { reason: 'job_runs' } });
    expect(await recover(anHourAgo())).toMatchObject({ status: 409, body: { reason: 'job_runs' } });
    const portal = await machineClient(p, 'jobs-portal');
    await call(p, 'PUT', '/v1/webhook-managers/jobs-portal', { client_ids: [] });
    expect((await callAs(p, portal, 'GET', `/v1/webhook-jobs/${subscription.id}`)).status).toBe(404);
    expect((await callAs(p, portal, 'POST', `/v1/webhook-jobs/${subscription.id}/cancel`)).status).toBe(404);
    expect((await callAs(p, portal, 'POST', '/v1/webhook-dead-letters/replay', { subscription_id: subscription.id })).status).toBe(404);
    expect((await callAs(p, portal, 'POST', `/v1/webhook-subscriptions/${subscription.id}/recover`, { since: anHourAgo() })).status).toBe(
      404,
    );
    expect(await call(p, 'POST', `/v1/webhook-jobs/${subscription.id}/cancel`)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    expect((await call(p, 'POST', `/v1/webhook-jobs/${subscription.id}/cancel`)).status).toBe(409);
    expect((await call(p, 'POST', `/v1/webhook-jobs/${DEMO}/cancel`)).status).toBe(404);
    expect((await call(p, 'GET', `/v1/webhook-jobs/${DEMO}`)).status).toBe(404);
  });

  test('that another process has left is taken over', async () => {
    await deadLetters(1);
    await p.sql(
      `insert into webhooks.webhook_job (id, kind, subscription_id, client_id, status, filter, requested_by, created_at, claimed_until)
       values ($1, 'replay_dead_letters', $1, 'demo-app', 'running', '{}', 'service:test', '2100-01-01', now() - interval '1 second')`,
      [subscription.id],
    );
    expect(await finished(subscription.id)).toMatchObject({ status: 'completed', created: 1 });
  });
});

describe('POST /v1/webhook-subscriptions/{id}/recover', () => {
  test('delivers what was missed while the subscription was disabled, in order, and nothing twice', async () => {
    const since = justNow();
    await protocolBegan(p, DEMO, 1);
    await untilStatuses(p, subscription.id, ['delivered']);
    await action('disable', { reason: 'x' });
    const [other] = await grantees(p, 1);
    for (const version of [2, 3, 4]) await untilIngested(p, await protocolBegan(p, DEMO, version));
    await untilIngested(p, await protocolBegan(p, other!, 9));
    await action('enable');
    expect(await deliveriesOf(p, subscription.id)).toHaveLength(1);
    const answer = await recover(since);
    expect(answer).toMatchObject({ status: 202, body: { kind: 'recover', requested_by: 'service:demo-m2m' } });
    const job = await finished(answer.body.id);
    expect(job).toMatchObject({ status: 'completed', created: 4 });
    await receiver.until(all => all.length === 5);
    expect(receiver.received.filter(one => one.body.user_id === DEMO).map(one => one.body.data.version)).toEqual([1, 2, 3, 4]);
    expect(receiver.received.every(one => one.headers['x-platform-delivery-attempt'] === '1')).toBe(true);
    const again = (await recover(since)).body;
    expect(await finished(again.id)).toMatchObject({ status: 'completed', created: 0 });
  });

  test('after 120 hours without a success and the disabling that follows, enabling and recovering delivers the missed in order', async () => {
    const since = justNow();
    receiver.reply(500);
    const users = await grantees(p, 2);
    for (const user of users) await protocolBegan(p, user, 1);
    await untilStatuses(p, subscription.id, ['retrying', 'retrying']);
    await p.clock('webhooks', { advance: 'PT121H' });
    const disabled = (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body;
    expect(disabled).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
    await untilStatuses(p, subscription.id, ['dead_lettered', 'dead_lettered']);
    for (const version of [2, 3, 4]) for (const user of users) await untilIngested(p, await protocolBegan(p, user, version));
    receiver.reply(200);
    expect((await action('enable')).body).toMatchObject({ status: 'active', failing_since: null, circuit: { state: 'closed' } });
    const before = receiver.received.length;
    expect(await finished((await recover(since)).body.id)).toMatchObject({ status: 'completed', created: 6 });
    await receiver.until(all => all.length === before + 6);
    for (const user of users) {
      const missed = receiver.received.slice(before).filter(one => one.body.user_id === user);
      expect(missed.map(one => one.body.data.version)).toEqual([2, 3, 4]);
    }
  });

  test('leaves out events from before the grant of now', async () => {
    const since = justNow();
    await action('disable', { reason: 'x' });
    await untilIngested(p, await protocolBegan(p, DEMO, 5));
    await revoke(p, DEMO, 'demo-app');
    await consent(p, DEMO, 'demo-app', ['read:protocols', 'read:my_outcomes']);
    await untilIngested(p, await protocolBegan(p, DEMO, 6));
    await action('enable');
    await finished((await recover(since)).body.id);
    await receiver.until(all => all.some(one => one.body.data.version === 6));
    expect(versions()).not.toContain(5);
  });

  test('is refused for a time of more than 30 days ago, one that ends before it begins, and while the subscription is not active', async () => {
    const old = new Date(Date.now() - 40 * 86_400_000).toISOString();
    expect(await recover(old)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/since' }] } });
    expect(await recover(anHourAgo(), { until: old })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/until' }] } });
    expect((await action('recover', {})).body.errors[0].pointer).toBe('/since');
    await action('pause');
    expect(await recover(anHourAgo())).toMatchObject({ status: 409, body: { reason: 'subscription_paused' } });
  });
});
