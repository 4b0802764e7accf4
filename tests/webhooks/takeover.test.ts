import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DEMO, freePort, platform, type TestPlatform } from '../support/platform.js';
import { startProcess, type Child } from '../support/processes.js';
import type { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { call, PROTOCOL, protocolBegan, subscribe, untilStatuses as statusesOf, type Subscribed } from './fixture.js';

/**
 * The workers answer no requests, so everything else on the machine goes before them. What is waited for is a condition, never a time;
 * a worker that ends is an error at once.
 */
const PATIENCE_MS = 280_000;

/** The delivery workers run in processes of their own, so that one can be killed. */
let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;
const children: Child[] = [];

beforeAll(async () => {
  p = await platform({ services: ['clinical', 'webhooks'], transport: 'run', env: { ROLES: 'subgraphs,gateway,rest,relay,scheduler' } });
});

afterAll(() => Promise.all(children.map(child => child.end('SIGKILL'))));

const holders = async (): Promise<Map<string, number[]>> => {
  const rows = await p.sql<{ holder: string; shards: number[] }>(
    `select holder, array_agg(shard::int order by shard) as shards from webhooks.webhook_shard where holder is not null and expires_at > clock_timestamp() group by holder`,
  );
  return new Map(rows.map(row => [row.holder, row.shards]));
};

beforeEach(async () => {
  await Promise.all(children.splice(0).map(child => child.end('SIGKILL')));
  await until('the leases of the dead to end', holders, held => held.size === 0, PATIENCE_MS); // else they count as workers
  receiver = await p.receiver();
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
});

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

/** @throws Error with what a worker printed before it ended by itself. */
function requireRunning(): void {
  const broken = children.find(({ process }) => process.exitCode);
  if (broken) throw new Error(`a worker has ended:\n${broken.printed()}`);
}

async function untilWorkers(count: number): Promise<void> {
  const shared = (held: Map<string, number[]>): boolean => held.size === count && [...held.values()].flat().length === 64;
  const look = (): Promise<Map<string, number[]>> => (requireRunning(), holders());
  await until(`${count} workers to share the shards`, look, shared, PATIENCE_MS);
}
const untilReceived = (count: number) => receiver.until(all => all.length === count, PATIENCE_MS);
const untilStatuses = (...statuses: string[]) => statusesOf(p, subscription.id, statuses, PATIENCE_MS);

/** Who has the shard of the subscription's deliveries. */
async function holderOfDeliveries(): Promise<string> {
  const lane = 'select shard from webhooks.webhook_lane where subscription_id = $1';
  const [row] = await p.sql<{ holder: string }>(`select holder from webhooks.webhook_shard where shard in (${lane})`, [subscription.id]);
  return row!.holder;
}

/** Answers that the receiver keeps back until it is told otherwise; from then on it answers at once. */
class HeldAnswers {
  #held: (() => void)[] | null = [];

  constructor(on: Receiver) {
    on.reply((_one, response) => {
      const answer = (): void => void response.writeHead(200).end();
      if (this.#held) this.#held.push(answer);
      else answer();
    });
  }

  /** @returns what gives the answers that were kept back. */
  answerFromNowOn(): () => void {
    const held = this.#held ?? [];
    this.#held = null;
    return () => held.forEach(answer => answer());
  }
}

/**
 * Two workers, of which one holds a request that the receiver does not answer. They share the shards before it begins: an attempt ends after
 * 30 s at most, and a worker may take longer to start.
 */
async function twoWorkers(): Promise<{ busy: Child; answers: HeldAnswers; e1: string }> {
  const answers = new HeldAnswers(receiver);
  const first = await worker();
  await untilWorkers(1);
  const [idOfFirst] = (await holders()).keys();
  const second = await worker();
  await untilWorkers(2);
  subscription = await subscribe(p, receiver.url, [PROTOCOL], { timeout_ms: 30_000 });
  const e1 = await protocolBegan(p, DEMO, 1);
  await untilReceived(1);
  await protocolBegan(p, DEMO, 2);
  await untilStatuses('pending', 'pending');
  return { busy: (await holderOfDeliveries()) === idOfFirst ? first : second, answers, e1 };
}

/** E1 once or more often, and E2 once behind it: a worker that a busy machine keeps from its lease is followed, too. */
function expectOrder(e1AtLeast: number): void {
  const versions = receiver.received.map(one => one.body.data.version);
  expect(versions.length).toBeGreaterThan(e1AtLeast);
  expect(versions).toEqual([...versions.slice(1).map(() => 1), 2]);
}

async function expectOneAttemptEach(): Promise<void> {
  for (const { id } of await untilStatuses('delivered', 'delivered'))
    expect((await call(p, 'GET', `/v1/webhook-deliveries/${id}/attempts`)).body.data).toHaveLength(1);
}

test('a worker that is killed while the receiver holds its request: E1 is sent again with the same attempt number, E2 only after it', async () => {
  const { busy, answers, e1 } = await twoWorkers();
  await busy.end('SIGKILL');
  answers.answerFromNowOn();
  await untilStatuses('delivered', 'delivered');
  expectOrder(2);
  const [sent, ...again] = receiver.received.slice(0, -1);
  for (const one of [sent!, ...again]) expect([one.body.id, one.headers['x-platform-delivery-attempt']]).toEqual([e1, '1']);
  for (const one of again) expect(one.raw.equals(sent!.raw)).toBe(true);
}, 300_000);

test('a worker that slept longer than its lease cannot record what it did, and nothing is out of order', async () => {
  const { busy, answers } = await twoWorkers();
  busy.process.kill('SIGSTOP');
  const answerTheSleeper = answers.answerFromNowOn();
  await untilStatuses('delivered', 'delivered');
  answerTheSleeper(); // it lies in the sleeper's socket
  busy.process.kill('SIGCONT');
  await untilWorkers(2);
  await expectOneAttemptEach();
  expectOrder(2);
}, 300_000);

test('a worker that is asked to stop finishes what is in the air and leaves its shards to the other at once', async () => {
  const { busy, answers } = await twoWorkers();
  const ended = busy.end('SIGTERM');
  answers.answerFromNowOn()();
  await ended;
  await untilWorkers(1);
  await expectOneAttemptEach();
  expectOrder(1);
}, 300_000);
