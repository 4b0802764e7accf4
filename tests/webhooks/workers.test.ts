import { beforeAll, expect, test, vi } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { settingsOf } from '../../subgraphs/webhooks/ports/settings.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { grantees, PROTOCOL, protocolBegan, subscribe, untilStatuses } from './fixture.js';

let p: TestPlatform;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], env: { WEBHOOKS_WORKERS: '2' } });
});

const shares = async (): Promise<number[]> => {
  const rows = await p.sql<{ shards: number }>(
    'select count(*)::int as shards from webhooks.webhook_shard where expires_at > clock_timestamp() group by holder',
  );
  return rows.map(row => row.shards);
};

const untilShared = () => until('two workers to share the shards', shares, all => all.length === 2 && all.every(one => one === 32), 60_000);

test('WEBHOOKS_WORKERS workers of one process share the shards and deliver each user in order', async () => {
  expect(settingsOf(p.host('webhooks')).workers).toBe(2);
  await untilShared();
  const receiver = await p.receiver();
  const { id } = await subscribe(p, receiver.url, [PROTOCOL], { spread: 16 });
  const users = await grantees(p, 12);
  for (const version of [1, 2, 3]) for (const user of users) await protocolBegan(p, user, version);
  await untilStatuses(
    p,
    id,
    Array.from({ length: 36 }, () => 'delivered'),
  );
  for (const user of users) {
    const versions = receiver.received.filter(one => one.body.user_id === user).map(one => one.body.data.version);
    expect(versions).toEqual([1, 2, 3]);
  }
});

test('readyz is 503 when no shard was held for 30 s', async () => {
  await untilShared();
  const ready = () => p.rest('GET', '/webhooks/readyz');
  expect(await ready()).toMatchObject({ status: 200, body: { checks: { shards: 'ok' } } });
  await p.sql(`update webhooks.webhook_shard set holder = $1, epoch = epoch + 1, expires_at = clock_timestamp() + interval '1 hour'`, [
    newId(),
  ]);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 45_000); // their leases of 10 s have run out, and 30 s more
  expect(await ready()).toMatchObject({ status: 503, body: { checks: { shards: 'failing' } } });
  vi.restoreAllMocks();
  await p.sql(`update webhooks.webhook_shard set holder = null, expires_at = '-infinity'`);
  await until(
    'shards to be held again',
    async () => (await ready()).status,
    status => status === 200,
  );
});
