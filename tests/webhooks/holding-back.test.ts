import { isDeepStrictEqual } from 'node:util';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { opens, remember, RateLimit, retryAfter, type Failure } from '../../subgraphs/webhooks/rules/holding-back.js';
import { writeHealth, type HealthEvent } from '../../subgraphs/webhooks/commands/health.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { call, grantees, deliveriesOf, PROTOCOL, protocolBegan, subscribe, untilStatuses, type Subscribed } from './fixture.js';

describe('the circuit', () => {
  const failures = (users: string[], stepMs: number): Failure[] =>
    users.reduce<Failure[]>((all, user, index) => remember(all, { at: index * stepMs, user }), []);
  const users = (count: number, of: number): string[] => Array.from({ length: count }, (_, index) => `u${index % of}`);

  test.each([
    ['10 failures over 3 users within 60 s', users(10, 3), 6_000, true],
    ['9 failures', users(9, 3), 1_000, false],
    ['10 failures over 2 users', users(10, 2), 1_000, false],
    ['10 failures over 3 users in more than 60 s', users(10, 3), 7_000, false],
    ['many failures of which the last 10 count', users(50, 5), 6_000, true],
  ])('%s open it: %#', (_what, who, stepMs, open) => expect(opens(failures(who, stepMs))).toBe(open));

  test.each([
    ['30', 30_000],
    ['3600', 60_000],
    ['0', null],
    ['-5', null],
    ['soon', null],
    [new Date(20_000).toUTCString(), 20_000],
    [undefined, null],
  ])('Retry-After %s holds back until %s', (header, held) => expect(retryAfter(header, 0)).toBe(held));
});

describe('a rate limit', () => {
  test('of 10 per second lets one go at once and one every 100 ms', () => {
    const rate = new RateLimit(10, 0);
    const times: number[] = [];
    for (let at = 0; at < 1000; at++) {
      if (!rate.allows(at)) continue;
      rate.take(at);
      times.push(at);
    }
    expect(times).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
  });

  test('counts retries, which may leave a debt', () => {
    const rate = new RateLimit(10, 0);
    for (let retry = 0; retry < 5; retry++) rate.take(0);
    expect([100, 400, 499, 500].map(at => rate.allows(at))).toEqual([false, false, false, true]);
  });
});

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

describe('at the endpoint', () => {
  beforeAll(async () => {
    p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' });
  });

  beforeEach(async () => {
    if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
    receiver = await p.receiver();
    subscription = await subscribe(p, receiver.url, [PROTOCOL]);
  });

  const people = (count: number): Promise<string[]> => grantees(p, count);

  const circuit = async (): Promise<any> => (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body.circuit;
  const statuses = async (): Promise<Record<string, number>> => {
    const all = await deliveriesOf(p, subscription.id);
    return all.reduce<Record<string, number>>(
      (counts, one) => ({ ...counts, [one.waiting_for ?? one.status]: (counts[one.waiting_for ?? one.status] ?? 0) + 1 }),
      {},
    );
  };
  const untilCounts = (counts: Record<string, number>) => until(JSON.stringify(counts), statuses, seen => isDeepStrictEqual(seen, counts));

  test('after 10 failures over 3 users first attempts of others wait, one probes every 30 s, retries run at their time, and a success lets all go', async () => {
    await p.clock('webhooks', { now: '2027-01-01T00:00:00.000Z' });
    receiver.reply(500);
    const users = await people(14);
    for (const user of users.slice(0, 10)) await protocolBegan(p, user);
    await untilCounts({ retrying: 10 });
    expect(await circuit()).toEqual({ state: 'open', since: '2027-01-01T00:00:00.000Z', next_probe_at: '2027-01-01T00:00:30.000Z' });
    for (const user of users.slice(10)) await protocolBegan(p, user);
    await untilCounts({ retrying: 10, circuit_open: 4 });
    expect(receiver.received).toHaveLength(10);

    await p.clock('webhooks', { advance: 'PT30S' });
    await untilCounts({ retrying: 11, circuit_open: 3 });
    expect(await circuit()).toMatchObject({ state: 'open', next_probe_at: '2027-01-01T00:01:00.000Z' });

    receiver.reply(200);
    await p.clock('webhooks', { advance: 'PT30S' }); // one probe and ten retries are due at this instant; each of them may be the success
    await untilCounts({ delivered: 13, retrying: 1 });
    expect(await circuit()).toMatchObject({ state: 'closed', since: '2027-01-01T00:01:00.000Z', next_probe_at: null });
    expect(new Set(receiver.received.map(one => one.body.user_id)).size).toBe(14);
  });

  test('the circuit is half open while one lane probes', async () => {
    await p.clock('webhooks', { now: '2027-01-01T12:00:00.000Z' });
    receiver.reply(500);
    const users = await people(11);
    for (const user of users.slice(0, 10)) await protocolBegan(p, user);
    await untilCounts({ retrying: 10 });
    await protocolBegan(p, users[10]!);
    await untilCounts({ retrying: 10, circuit_open: 1 });
    const probe = Promise.withResolvers<void>();
    receiver.reply((_one, response) => void probe.promise.then(() => response.writeHead(200).end()));
    const moved = p.clock('webhooks', { advance: 'PT30S' });
    await until('the probe', circuit, ({ state }) => state === 'half_open');
    probe.resolve();
    await moved;
    await untilCounts({ retrying: 10, delivered: 1 });
    expect(await circuit()).toMatchObject({ state: 'closed', next_probe_at: null });
  });

  test('10 consecutive failures count over a restart and over workers', async () => {
    const failures = (from: number) =>
      Array.from({ length: 5 }, (_, index) => ({
        subscriptionId: subscription.id,
        userId: `u${index}`,
        endedAt: new Date(Date.parse('2027-01-01T18:00:00.000Z') + (from + index) * 1000),
        outcome: { error: 'http_status' as const, responseHeaders: {} },
        goneSince: null,
      }));
    const record = (batch: readonly HealthEvent[]) => p.host('webhooks').transaction(ctx => writeHealth(ctx.sql, batch));
    await record(failures(0));
    expect(await circuit()).toMatchObject({ state: 'closed' });
    await record(failures(5)); // nothing but the database is common to the two
    expect(await circuit()).toMatchObject({ state: 'open', since: '2027-01-01T18:00:09.000Z' });
  });

  test('Retry-After holds first attempts of others back, and no retry', async () => {
    await p.clock('webhooks', { now: '2027-01-02T00:00:00.000Z' });
    receiver.reply((_one, response) => void response.writeHead(429, { 'retry-after': '3600' }).end());
    const [first, second] = await people(2);
    await protocolBegan(p, first!);
    await untilCounts({ retrying: 1 });
    await protocolBegan(p, second!);
    await until(
      'the second delivery',
      () => deliveriesOf(p, subscription.id),
      all => all.length === 2,
    );
    await p.clock('webhooks', { advance: 'PT59S' });
    expect(receiver.received).toHaveLength(1);
    receiver.reply(200);
    await p.clock('webhooks', { advance: 'PT1S' });
    await untilCounts({ delivered: 2 });
  });

  test('a rate limit is kept, whatever waits', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { rate_limit_per_second: 20 });
    for (const user of await people(30)) await protocolBegan(p, user);
    const all = await receiver.until(received => received.length === 30);
    const times = all.map(one => one.at);
    const busiest = Math.max(...times.map(at => times.filter(other => other >= at && other < at + 900).length));
    expect(busiest).toBeLessThanOrEqual(22); // 20 and the tenth that a burst may have
    await untilCounts({ delivered: 30 });
  });

  test('what waits for the rate limit says so, and is listed so', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { rate_limit_per_second: 1 });
    for (const user of await people(6)) await protocolBegan(p, user);
    const waiting = async (what: string): Promise<any[]> =>
      (await call(p, 'GET', `/v1/webhook-deliveries?subscription_id=${subscription.id}&waiting_for=${what}`)).body.data;
    const limited = await until(
      'some to wait for the rate limit, and none to be ready',
      async () => [await waiting('rate_limit'), await waiting('ready')],
      ([some, ready]) => some!.length > 0 && ready!.length === 0,
    );
    expect(new Set(limited[0]!.map(one => one.waiting_for))).toEqual(new Set(['rate_limit']));
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { rate_limit_per_second: null });
    await untilCounts({ delivered: 6 });
  });

  test('no more requests than max_concurrency are in the air, over all users', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { max_concurrency: 3 });
    const waiting: (() => void)[] = [];
    let most = 0;
    receiver.reply((_one, response) => {
      waiting.push(() => response.writeHead(200).end());
      most = Math.max(most, waiting.length);
    });
    for (const user of await people(9)) await protocolBegan(p, user);
    for (let answered = 0; answered < 9; answered++) {
      const room = Math.min(3, 9 - answered);
      await until(
        `${room} requests in the air`,
        async () => waiting.length,
        open => open === room,
      );
      waiting.shift()!();
    }
    await untilCounts({ delivered: 9 });
    expect(most).toBe(3);
  });

  test('an endpoint with ten thousand waiting users delays nobody else', async () => {
    await call(p, 'PATCH', `/v1/webhook-subscriptions/${subscription.id}`, { max_concurrency: 1, timeout_ms: 30_000 });
    const held: (() => void)[] = [];
    receiver.reply((_one, response) => void held.push(() => response.writeHead(200).end()));
    const [user] = await people(1);
    await protocolBegan(p, user!);
    await receiver.until(all => all.length === 1);
    await p.sql(
      `with u as (select gen_random_uuid() as user_id, gen_random_uuid() as id, lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7000800000000000000' || lpad(to_hex(n % 16), 1, '0') as e, n from generate_series(1, 10000) n),
     rows as (select *, gen_random_uuid() as event_id from u),
     d as (insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, status, created_at)
       select id, event_id, $1, 'demo-app', user_id, $2, n, 0, 'pending', now() from rows)
     insert into webhooks.webhook_lane (subscription_id, user_id, shard, head_id, head_event_id, head_sequence, head_replay_no, head_attempt_count, next_attempt_at, open_count)
       select $1, user_id, (select shard from webhooks.webhook_lane where subscription_id = $1 limit 1), id, event_id, n, 0, 0, '2026-01-01', 1 from rows`,
      [subscription.id, PROTOCOL],
    );
    const other = await p.receiver();
    const quick = await subscribe(p, other.url, [PROTOCOL]);
    await protocolBegan(p, DEMO);
    await other.until(all => all.length === 1);
    await untilStatuses(p, quick.id, ['delivered']);
    await call(p, 'DELETE', `/v1/webhook-subscriptions/${quick.id}`);
    held.forEach(answer => answer());
  });

  test('a subscription whose secret cannot be opened holds up nobody else', async () => {
    const broken = await subscribe(p, `${receiver.url}/broken`, [PROTOCOL]);
    await p.sql(`update webhooks.webhook_secret set value_sealed = '\\x00' where subscription_id = $1`, [broken.id]);
    await p.sql('update webhooks.webhook_configuration set version = version + 1');
    await p.sql(
      'update webhooks.webhook_subscription set configuration_version = (select version from webhooks.webhook_configuration) where id = $1',
      [broken.id],
    );
    await protocolBegan(p, DEMO);
    await untilStatuses(p, subscription.id, ['delivered']);
    expect((await deliveriesOf(p, broken.id)).map(one => [one.status, one.attempt_count])).toEqual([['pending', 0]]);
    await call(p, 'DELETE', `/v1/webhook-subscriptions/${broken.id}`);
  });

  describe('an endpoint that never succeeds', () => {
    test('is disabled after 120 hours and 10 failed attempts; what is open becomes a dead letter', async () => {
      await p.clock('webhooks', { now: '2027-01-03T00:00:00.000Z' });
      receiver.reply(500);
      const users = await people(3);
      for (const user of users.slice(0, 2)) await protocolBegan(p, user);
      await untilCounts({ retrying: 2 });
      await p.clock('webhooks', { advance: 'PT119H' });
      expect((await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body).toMatchObject({
        status: 'active',
        failing_since: '2027-01-03T00:00:00.000Z',
      });
      await protocolBegan(p, users[2]!);
      await until(
        'the third',
        () => deliveriesOf(p, subscription.id),
        all => all.length === 3 && all[2].status === 'retrying',
      );
      await p.clock('webhooks', { advance: 'PT1H' });
      const disabled = (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body;
      expect(disabled).toMatchObject({ status: 'disabled', disabled_reason: 'failing', status_changed_at: '2027-01-08T00:00:00.000Z' });
      const all = await untilStatuses(p, subscription.id, ['dead_lettered', 'dead_lettered', 'dead_lettered']);
      expect(all.map(one => one.dead_letter_reason)).toEqual(['retries_exhausted', 'retries_exhausted', 'subscription_disabled']);
    });

    test('and answers 410 to the end is disabled at once', async () => {
      await p.clock('webhooks', { now: '2027-01-10T00:00:00.000Z' });
      receiver.reply(410);
      const [user] = await people(1);
      await protocolBegan(p, user!);
      await untilCounts({ retrying: 1 });
      await p.clock('webhooks', { advance: 'PT15H' });
      expect((await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body).toMatchObject({
        status: 'disabled',
        disabled_reason: 'gone',
        status_changed_at: '2027-01-10T14:36:00.000Z',
      });
    });

    test('stays active when a success came in between', async () => {
      await p.clock('webhooks', { now: '2027-01-12T00:00:00.000Z' });
      receiver.reply(500);
      const users = await people(4);
      for (const user of users.slice(0, 3)) await protocolBegan(p, user);
      await untilCounts({ retrying: 3 });
      await p.clock('webhooks', { advance: 'PT20H' });
      receiver.reply(200);
      await protocolBegan(p, users[3]!);
      await untilCounts({ dead_lettered: 3, delivered: 1 });
      await p.clock('webhooks', { advance: 'P7D' });
      expect((await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body).toMatchObject({
        status: 'active',
        failing_since: null,
      });
    });
  });
});
