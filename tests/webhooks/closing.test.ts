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
  until('all are closed', counted, found => JSON.stringify(found) === JSON.stringify(wanted));

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
