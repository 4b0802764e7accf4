import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { v7 } from 'uuid';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { call, grantees, PROMPTED, prompted, PROTOCOL, protocolBegan, subscribe, untilStatuses, type Subscribed } from './fixture.js';

/** A subscription that ends with much open: its state changes at once, the rest is closed by and by. Source: contracts/webhooks.md, section 3. */
let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

/** More than two batches. */
const OPEN = 2_500;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical', 'events'], transport: 'run' });
});

beforeEach(async () => {
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url, [PROTOCOL, PROMPTED]);
});

const path = (action = ''): string => `/v1/webhook-subscriptions/${subscription.id}${action}`;
const read = async (): Promise<any> => (await call(p, 'GET', path())).body;

/** Deliveries that wait, of three users in turn, copied from one that the platform made. */
async function plant(): Promise<void> {
  await call(p, 'POST', path('/pause'));
  await protocolBegan(p, DEMO, 1);
  const [first] = await untilStatuses(p, subscription.id, ['pending']);
  const users = [DEMO, ...(await grantees(p, 2))];
  await p.sql(
    `insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, status, created_at)
     select k.id, gen_random_uuid(), d.subscription_id, d.client_id, ($2::uuid[])[1 + n % 3], d.event_type, d.sequence + n, 0, 'pending', d.created_at
     from webhooks.webhook_delivery d, unnest($3::uuid[]) with ordinality as k(id, n) where d.id = $1`,
    [first.id, users, Array.from({ length: OPEN - 1 }, () => v7())], // in the order of time, as ids are
  );
  await p.sql(
    `insert into webhooks.webhook_lane (subscription_id, user_id, shard, head_id, head_event_id, head_sequence, head_replay_no, head_attempt_count, next_attempt_at, open_count)
     select distinct on (user_id) subscription_id, user_id, 0, id, event_id, sequence, replay_no, 0, null, count(*) over (partition by user_id) from webhooks.webhook_delivery
     where subscription_id = $1 order by user_id, sequence
     on conflict (subscription_id, user_id) do update set open_count = excluded.open_count`,
    [subscription.id],
  );
}

const counted = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await p.sql<{ what: string; n: number }>(
        `select status || coalesce(' ' || dead_letter_reason, ' ' || cancel_reason, '') as what, count(*)::int as n
         from webhooks.webhook_delivery where subscription_id = $1 group by 1`,
        [subscription.id],
      )
    ).map(row => [row.what, row.n]),
  );
const untilCounted = (wanted: Record<string, number>): Promise<unknown> =>
  until('all are closed', counted, found => isDeepStrictEqual(found, wanted));

describe('with thousands of open deliveries', () => {
  beforeEach(plant);

  test('disabling takes effect at once, says how many are still to be closed, and all become dead letters', async () => {
    const answer = await call(p, 'POST', path('/disable'), { reason: 'abuse' });
    expect(answer).toMatchObject({ status: 200, body: { status: 'disabled', closing: OPEN - 1_000 } });
    await untilCounted({ 'dead_lettered subscription_disabled': OPEN });
    expect(await read()).toMatchObject({ closing: 0 });
    expect(await p.sql('select from webhooks.webhook_lane where subscription_id = $1', [subscription.id])).toEqual([]);
    expect(receiver.received).toEqual([]);
  });

  test('deleting cancels all of them', async () => {
    expect((await call(p, 'DELETE', path())).status).toBe(204);
    await untilCounted({ 'cancelled subscription_deleted': OPEN });
  });

  test('types that leave the filter are cancelled, and the others are sent afterwards', async () => {
    await prompted(p, DEMO);
    await until('it is stored', counted, found => found.pending === OPEN + 1);
    const narrowed = await call(p, 'PATCH', path(), { event_types: [PROMPTED] });
    expect(narrowed).toMatchObject({ status: 200, body: { event_types: [PROMPTED], closing: OPEN - 1_000 } });
    await call(p, 'POST', path('/resume'));
    await untilCounted({ 'cancelled filter_changed': OPEN, delivered: 1 });
    expect(receiver.received.map(one => one.body.type)).toEqual([PROMPTED]);
  });

  test('what comes after it was enabled again is sent, and none of what was open', async () => {
    await call(p, 'POST', path('/disable'), { reason: 'abuse' });
    expect(await call(p, 'POST', path('/enable'))).toMatchObject({ status: 200, body: { status: 'active' } });
    await protocolBegan(p, DEMO, 2);
    await until('the new one is delivered', counted, found => found.delivered === 1);
    await untilCounted({ 'dead_lettered subscription_disabled': OPEN, delivered: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  test('what came after it went on stays open while the rest of what was open ends', async () => {
    const [last] = await p.sql<{ id: string }>('select max(id::text) as id from webhooks.webhook_delivery where subscription_id = $1', [
      subscription.id,
    ]);
    await protocolBegan(p, DEMO, 2);
    await until('it is stored', counted, found => found.pending === OPEN + 1);
    await p.sql(
      `insert into webhooks.webhook_closing (id, subscription_id, status, reason, upto, rest, created_at)
       values ($1, $2, 'dead_lettered', 'subscription_disabled', $3, $4, now())`,
      [v7(), subscription.id, last!.id, OPEN],
    );
    await untilCounted({ 'dead_lettered subscription_disabled': OPEN, pending: 1 });
    await call(p, 'POST', path('/resume'));
    await untilCounted({ 'dead_lettered subscription_disabled': OPEN, delivered: 1 });
  });
});

describe('with thousands of lanes', () => {
  const LANES = 2_500;
  const lowUser = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

  /** Deliveries that failed once and wait for a retry that never comes here, each of a user whose id comes before everybody's. */
  async function plantLanes(): Promise<void> {
    const ids = Array.from({ length: LANES }, () => v7());
    await p.sql(
      `insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, status, created_at, attempt_count, next_attempt_at)
       select k.id, gen_random_uuid(), $1, 'demo-app', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, n, 0, 'retrying', now(), 1, '2100-01-01'
       from unnest($3::uuid[]) with ordinality as k(id, n)`,
      [subscription.id, PROTOCOL, ids],
    );
    await p.sql(
      `insert into webhooks.webhook_lane (subscription_id, user_id, shard, head_id, head_event_id, head_sequence, head_replay_no, head_attempt_count, next_attempt_at, open_count)
       select subscription_id, user_id, 0, id, event_id, sequence, replay_no, 1, next_attempt_at, 1 from webhooks.webhook_delivery where subscription_id = $1`,
      [subscription.id],
    );
  }

  const moving = async (): Promise<number> =>
    (await p.sql('select count(next_attempt_at)::int as n from webhooks.webhook_lane where subscription_id = $1', [subscription.id]))[0].n;

  /** Another transaction has one of the lanes for as long as the work takes. */
  async function whileLocked(user: string, work: () => Promise<void>): Promise<void> {
    const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select from webhooks.webhook_lane where subscription_id = $1 and user_id = $2 for update', [
        subscription.id,
        user,
      ]);
      await work();
    } finally {
      await other.end();
    }
  }

  test('pausing and going on take effect at once, and no event waits until all lanes have followed', async () => {
    await plantLanes();
    const second = await p.receiver();
    await subscribe(p, second.url, [PROTOCOL]);
    await whileLocked(lowUser(1_700), async () => {
      expect(await call(p, 'POST', path('/pause'))).toMatchObject({ status: 200, body: { status: 'paused' } });
      await protocolBegan(p, DEMO, 1);
      await until('it is stored', counted, found => found.pending === 1);
      // due before everybody's, were they not held: the workers pass them over and find the others
      await p.sql(`update webhooks.webhook_lane set next_attempt_at = '2000-01-01' where subscription_id = $1 and user_id > $2`, [
        subscription.id,
        lowUser(1_700),
      ]);
      await protocolBegan(p, DEMO, 2);
      await second.until(all => all.length === 2); // the workers have looked
    });
    await until('all are held', moving, count => count === 0);
    expect(receiver.received).toEqual([]);

    await whileLocked(lowUser(1_700), async () => {
      expect(await call(p, 'POST', path('/resume'))).toMatchObject({ status: 200, body: { status: 'active' } });
      await protocolBegan(p, DEMO, 3);
      await second.until(all => all.length === 3);
    });
    await receiver.until(all => all.length === 3);
    expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 2, 3]);
    await until('all go on', moving, count => count === LANES);
  });

  test('one that goes on while its lanes are still being held goes on with all of them', async () => {
    await plantLanes();
    await whileLocked(lowUser(1_700), async () => {
      await call(p, 'POST', path('/pause'));
    });
    await call(p, 'POST', path('/resume'));
    await until(
      'no lane is left to change',
      () => p.sql('select from webhooks.webhook_lane_change'),
      rows => rows.length === 0,
    );
    expect(await moving()).toBe(LANES);
  });
});
