import { setTimeout as sleep } from 'node:timers/promises';
import { biomarkerAdded } from '../../../events/catalogue/clinical.js';
import { schemaOf, type Slug } from '../../../events/slugs.js';
import type { Patch } from '../wrong-designs.js';
import { Load, type LoadOptions, type Seen } from './load.js';
import { random, shuffled } from './random.js';
import { judge, type Figures, type Truth } from './verdict.js';
import { World, type Backends, type Kind } from './world.js';

type Victim = Kind | 'postgres' | 'rabbitmq';

/** One bag of victims: everything dies at least once in each round, in an order that the seed says. */
const BAG: readonly Victim[] = ['api', 'relay', 'webhooks', 'consumers', 'api', 'relay', 'webhooks', 'consumers', 'postgres', 'rabbitmq'];
/** Between two kills, ms. */
const GAP_MS = [1_500, 4_500] as const;
/** Without any movement for so long nothing more will come: longer than leases and waits before retries. */
const STUCK_MS = 40_000;
/** Nothing is left to do for so long, so that a late duplicate is seen too. */
const DONE_MS = 3_000;
const DRAIN_MS = 300_000;

/** The same seed, the same victims in the same order at the same times. */
export function* killPlan(seed: number): Generator<{ wait: number; victim: Victim }> {
  const next = random(seed);
  const [least, most] = GAP_MS;
  for (;;) for (const victim of shuffled(next, BAG)) yield { wait: least + next() * (most - least), victim };
}

async function kill(world: World, victim: Victim, turn: number): Promise<boolean> {
  const { backends, members } = world;
  if (victim === 'postgres') await backends.killPostgres();
  else if (victim !== 'rabbitmq') members.get(victim)![turn % 2]!.kill();
  else if (backends.broker) {
    await backends.broker.kill();
    await backends.broker.restart();
  } else return false;
  return true;
}

/** Kills for so long, and a whole bag at least; answers how often each died. */
async function killFor(world: World, seed: number, seconds: number): Promise<Map<Victim, number>> {
  const until = performance.now() + seconds * 1_000;
  const killed = new Map<Victim, number>();
  let left = BAG.length;
  for (const { wait, victim } of killPlan(seed)) {
    await sleep(wait);
    if (left-- <= 0 && performance.now() >= until) break;
    const before = killed.get(victim) ?? 0;
    if (await kill(world, victim, before)) killed.set(victim, before + 1);
  }
  return killed;
}

/** What is still to be done: events to be relayed, to be handled, to be retried, deliveries to be made. */
async function leftOver(world: World): Promise<Record<string, number>> {
  const [row] = await world.sql<Record<string, number>>(
    `select (select count(*)::int from events.outbox where published_at is null) as unpublished,
      (select coalesce(sum(open_count), 0)::int from webhooks.webhook_lane) as deliveries,
      (select count(*)::int from events.dead_letter where status = 'retrying') as retries`,
  );
  return { ...row, unhandled: await unhandled(world) };
}

/** Waits until nothing is left to do, or nothing moves any more. Answers what is left. */
export async function untilQuiet(world: World): Promise<Record<string, number>> {
  await world.ready();
  const end = performance.now() + DRAIN_MS;
  let [last, since] = ['', performance.now()];
  for (;;) {
    const left = await leftOver(world);
    const now = JSON.stringify([left, world.receivers.map(receiver => receiver.arrivals.length)]);
    if (now !== last || left.retries) since = performance.now();
    last = now;
    const still = performance.now() - since;
    const done = Object.values(left).every(count => count === 0);
    if (still > (done ? DONE_MS : STUCK_MS) || performance.now() > end) return left;
    await sleep(500);
  }
}

async function unhandled(world: World): Promise<number> {
  const consumers = await world.sql<{ name: string; service: Slug }>('select name, service from events.consumer');
  let missing = 0;
  for (const { name, service } of consumers) {
    const [row] = await world.sql<{ missing: number }>(
      `select count(*)::int as missing from events.outbox o join events.consumer c on c.name = $1 and o.type = any (c.types)
       where o.type = $2 and not exists (select from ${schemaOf(service)}.inbox i where i.consumer = c.name and i.event_id = o.id)`,
      [name, biomarkerAdded.name],
    );
    missing += row!.missing;
  }
  return missing;
}

async function truthOf(world: World, { acknowledged }: Seen): Promise<Truth> {
  const stored = await world.sql<{ id: string }>('select id from clinical.observation where patient_id = any($1)', [world.users]);
  const logged = await world.sql<Truth['logged'][number]>(
    `select id, user_id as "userId", data ->> 'observation_id' as about from events.outbox where type = $1 order by seq`,
    [biomarkerAdded.name],
  );
  const [letters] = await world.sql<{ count: number }>(
    `select count(*)::int as count from events.dead_letter where status in ('dead', 'retrying', 'parked')`,
  );
  const [dead] = await world.sql<{ count: number }>(
    `select count(*)::int as count from webhooks.webhook_delivery where status in ('dead_lettered', 'cancelled')`,
  );
  const deadLetters = letters!.count + dead!.count;
  return { stored: stored.map(row => row.id), logged, acknowledged, unhandled: await unhandled(world), deadLetters };
}

/** Waits until all is quiet and compares what was committed with what arrived. */
export async function verdictOf(world: World, seen: Seen): Promise<Figures & { events: number }> {
  const left = await untilQuiet(world);
  if (Object.values(left).some(count => count > 0)) console.log(`left over: ${JSON.stringify(left)}\n${world.told()}`);
  const truth = await truthOf(world, seen);
  return {
    events: truth.logged.length,
    ...judge(
      truth,
      world.receivers.map(receiver => receiver.arrivals),
    ),
  };
}

export interface RunOptions extends LoadOptions {
  seconds: number;
  patches?: readonly Patch[];
}

export interface Outcome {
  figures: Figures & { events: number };
  killed: ReadonlyMap<Victim, number>;
  seen: Seen;
  /** Processes that ended by themselves. */
  fell: number;
}

/** One run: load and kills for so many seconds, then everything comes back and the verdict. */
export async function run(backends: Backends, options: RunOptions): Promise<Outcome> {
  const world = await World.open(backends, options);
  try {
    const load = await Load.start(world, options);
    const killed = await killFor(world, options.seed, options.seconds);
    const seen = await load.stop();
    const figures = await verdictOf(world, seen);
    return { figures, killed, seen, fell: world.all.reduce((sum, member) => sum + member.fell, 0) };
  } finally {
    await world.close();
  }
}

const WORDS: Readonly<Record<number, string>> = { 0: 'broken', [-1]: 'none' };

/** A few lines of a report. */
export const line = (name: string, { figures, killed, seen, fell }: Outcome): string =>
  [
    `${name}: ${figures.events} events of ${seen.acknowledged.length} acknowledged results`,
    `answers ${[...seen.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${WORDS[status] ?? status} × ${count}`)
      .join(', ')}`,
    `killed ${[...killed].map(([victim, count]) => `${victim} × ${count}`).join(', ')}${fell ? `, ended by themselves ${fell}` : ''}`,
    `lost ${figures.lost}, out of order ${figures.outOfOrder}, bad signatures ${figures.badSignatures}, phantoms ${figures.phantoms}`,
    `dead letters ${figures.deadLetters}, duplicates ${figures.duplicates}`,
  ].join('\n  ');
