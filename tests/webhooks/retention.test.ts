import { beforeAll, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { call, deliveriesOf, PROTOCOL, protocolBegan, subscribe, untilStatuses } from './fixture.js';

let p: TestPlatform;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run' });
});

const partitions = async (parent: string): Promise<string[]> =>
  (
    await p.sql<{ name: string }>(
      `select c.relname as name from pg_class c join pg_inherits i on i.inhrelid = c.oid where i.inhparent = $1::regclass order by 1`,
      [`webhooks.${parent}`],
    )
  ).map(row => row.name);

const rows = async (table: string): Promise<number> =>
  (await p.sql<{ n: number }>(`select count(*)::int as n from webhooks.${table}`))[0]!.n;

test('bodies, deliveries and attempts go with their partition once it is older than 30 days; a lane that lost its head goes too', async () => {
  const receiver = await p.receiver();
  const subscription = await subscribe(p, receiver.url, [PROTOCOL]);
  await protocolBegan(p, DEMO, 1);
  await untilStatuses(p, subscription.id, ['delivered']);
  await call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/pause`);
  await protocolBegan(p, DEMO, 2);
  await untilStatuses(p, subscription.id, ['delivered', 'pending']);
  const before = await partitions('webhook_delivery');
  expect(before.filter(name => /_w\d+$/.test(name)).length).toBeGreaterThanOrEqual(2);
  const [lanes] = await p.sql('select tableoid::regclass::text as part from webhooks.webhook_delivery limit 1');
  expect(lanes.part).toMatch(/_w\d+$/); // rows lie in the week's partition, not in the default one

  await p.clock('webhooks', { advance: 'P29D' });
  expect(await deliveriesOf(p, subscription.id)).toHaveLength(2);
  await p.clock('webhooks', { advance: 'P10D' }); // a week is dropped as a whole, so up to 7 days later
  expect(await deliveriesOf(p, subscription.id)).toEqual([]);
  expect([await rows('webhook_event'), await rows('webhook_attempt'), await rows('webhook_lane')]).toEqual([0, 0, 0]);
  expect(await partitions('webhook_delivery')).not.toContain(before.find(name => /_w\d+$/.test(name)));
});

test('a deleted subscription is forgotten after 30 days', async () => {
  const { id } = await subscribe(p, 'http://127.0.0.1:9/', [PROTOCOL]);
  await call(p, 'DELETE', `/v1/webhook-subscriptions/${id}`);
  await p.clock('webhooks', { advance: 'P29D' });
  expect(await p.sql('select 1 from webhooks.webhook_subscription where id = $1', [id])).toHaveLength(1);
  await p.clock('webhooks', { advance: 'P2D' });
  expect(await p.sql('select 1 from webhooks.webhook_subscription where id = $1', [id])).toEqual([]);
});
