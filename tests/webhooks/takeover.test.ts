import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DEMO, freePort, platform, type TestPlatform } from '../support/platform.js';
import { startProcess, type Child } from '../support/processes.js';
import type { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { call, PROTOCOL, protocolBegan, subscribe, untilStatuses, type Subscribed } from './fixture.js';

/** A lease of 10 s, the beat after it at a third of that, and the rest for a machine busy with other tests, which a worker lets go first. */
const TAKEN_OVER_MS = 100_000;

/** The delivery workers run in processes of their own, so that one can be killed. */
let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;
const children: Child[] = [];

beforeAll(async () => {
  p = await platform({ transport: 'run', env: { ROLES: 'subgraphs,gateway,rest,relay,scheduler' } });
});

afterAll(() => Promise.all(children.map(child => child.end('SIGKILL'))));

beforeEach(async () => {
  await Promise.all(children.splice(0).map(child => child.end('SIGKILL')));
  receiver = await p.receiver();
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
});

const holders = async (): Promise<Map<string, number[]>> => {
  const rows = await p.sql<{ holder: string; shards: number[] }>(
    `select holder, array_agg(shard::int order by shard) as shards from webhooks.webhook_shard where holder is not null and expires_at > clock_timestamp() group by holder`,
  );
  return new Map(rows.map(row => [row.holder, row.shards]));
};

async function worker(): Promise<Child> {
  const child = startProcess({
    ...p.env,
    ROLES: 'consumers',
    SERVICES: 'webhooks',
    GATEWAY_URL: p.url,
    SUBGRAPH_URL_IDENTITY: p.url,
    PORT: String(await freePort()),
    IDENTITY_ISSUER: `${p.url}/identity`,
  });
  children.push(child);
  return child;
}

const untilWorkers = (count: number) =>
  until(
    `${count} workers to share the shards`,
    holders,
    held => held.size === count && [...held.values()].flat().length === 64,
    60_000,
  ).catch(error => {
    throw new Error(`${(error as Error).message}\n${children.map(child => child.printed()).join('\n---\n')}`);
  });

/** Two workers; the first holds a request that the receiver does not answer. */
async function twoWorkers(): Promise<{ first: Child; answers: (() => void)[]; e1: string }> {
  const answers: (() => void)[] = [];
  receiver.reply((_one, response) => void answers.push(() => response.writeHead(200).end()));
  const first = await worker();
  await untilWorkers(1);
  subscription = await subscribe(p, receiver.url, [PROTOCOL]);
  const e1 = await protocolBegan(p, DEMO, 1);
  await receiver.until(all => all.length === 1, 30_000);
  await protocolBegan(p, DEMO, 2);
  await untilStatuses(p, subscription.id, ['pending', 'pending']);
  await worker();
  await untilWorkers(2);
  return { first, answers, e1 };
}

test('a worker that is killed while the receiver holds its request: E1 is sent again with the same attempt number, E2 only after it', async () => {
  const { first, answers, e1 } = await twoWorkers();
  expect(receiver.received).toHaveLength(1);
  await first.end('SIGKILL');
  await receiver.until(all => all.length === 2, TAKEN_OVER_MS);
  expect(receiver.received.map(one => [one.body.id, one.headers['x-platform-delivery-attempt']])).toEqual([
    [e1, '1'],
    [e1, '1'],
  ]);
  expect(receiver.received[1]!.raw.equals(receiver.received[0]!.raw)).toBe(true);
  answers[1]!();
  await receiver.until(all => all.length === 3);
  answers[2]!();
  await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
  expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 1, 2]);
}, 300_000);

test('a worker that slept longer than its lease cannot record what it did, and nothing is out of order', async () => {
  const { first, answers } = await twoWorkers();
  first.process.kill('SIGSTOP');
  await receiver.until(all => all.length === 2, TAKEN_OVER_MS);
  answers[1]!();
  await receiver.until(all => all.length === 3);
  answers[2]!();
  await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
  answers[0]!(); // lies in the sleeper's socket
  first.process.kill('SIGCONT');
  await untilWorkers(2);
  const all = await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
  for (const { id } of all) expect((await call(p, 'GET', `/v1/webhook-deliveries/${id}/attempts`)).body.data).toHaveLength(1);
  expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 1, 2]);
}, 300_000);

test('a worker that is asked to stop finishes what is in the air and leaves its shards to the other at once', async () => {
  const { first, answers } = await twoWorkers();
  const ended = first.end('SIGTERM');
  answers[0]!();
  await ended;
  await untilWorkers(1);
  await receiver.until(all => all.length === 2);
  answers[1]!();
  await untilStatuses(p, subscription.id, ['delivered', 'delivered']);
  expect(receiver.received.map(one => one.body.data.version)).toEqual([1, 2]);
}, 300_000);
