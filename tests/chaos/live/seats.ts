import { setTimeout as sleep } from 'node:timers/promises';
import { cancel, count, eventsOf, people, session, type Person } from '../../live/fixture.js';
import { freePort, platform, type Answer, type TestPlatform } from '../../support/platform.js';
import { until } from '../../support/until.js';
import { Member } from '../support/fleet.js';
import { random } from '../support/random.js';
import type { Patch } from '../wrong-designs.js';
import { balancer } from './balancer.js';

const [CAPACITY, WAITLIST] = [30, 100];
const NOW = '2031-06-01T18:00:00.000Z';
/** Longest wait for an answer, kills and starts included, ms. */
const PATIENCE_MS = 600_000;
/** From one kill to the next at most, ms. */
const KILL_WITHIN_MS = 4_000;

export interface SeatOptions {
  seed: number;
  people: number;
  kills: number;
  patches?: readonly Patch[];
}

export interface SeatOutcome {
  kills: number;
  cancelled: number;
  violations: string[];
}

interface Scene {
  p: TestPlatform;
  members: readonly Member[];
  /** Requests that each process of live answered. */
  answered: readonly number[];
  end(): Promise<void>;
}

const ROLES = 'subgraphs,consumers,scheduler';

/** Live in two processes that are killed, so that its lock is tried between them; identity, the gateway and REST in this one. */
async function scene(patches: readonly Patch[]): Promise<Scene> {
  const ports = [await freePort(), await freePort()];
  const { url, answered, stop } = await balancer(ports);
  const p = await platform({ services: ['entitlements'], env: { SUBGRAPH_URL_LIVE: url } });
  const { SUBGRAPH_URL_LIVE: _own, ...shared } = p.env;
  const others = Object.fromEntries(['IDENTITY', 'PLATFORM', 'ENTITLEMENTS'].map(name => [`SUBGRAPH_URL_${name}`, p.url]));
  const own = { SERVICES: 'live', ROLES, DATABASE_POOL_MAX: '3', GATEWAY_URL: p.url, IDENTITY_ISSUER: `${p.url}/identity` };
  const members = ports.map(port => new Member({ env: { ...shared, ...others, ...own, PORT: String(port) }, patches }));
  const end = async (): Promise<void> => {
    await Promise.all(members.map(member => member.stop()));
    stop();
  };
  await Promise.all(members.map(member => member.untilReady())).catch(error => end().then(() => Promise.reject(error)));
  return { p, members, answered, end };
}

/** An answer, asked for again while the process is away. */
const answered = (ask: () => Promise<Answer>): Promise<Answer> =>
  until(
    'an answer',
    () => ask().catch(() => ({ status: 503 }) as Answer),
    ({ status }) => status < 502,
    PATIENCE_MS,
  );

const keyed = (p: TestPlatform, id: string, { id: key, token }: Person): Promise<Answer> =>
  p.rest('POST', `/live/v1/sessions/${id}/registrations`, { token, body: {}, headers: { 'idempotency-key': key } });

interface Row {
  user_id: string;
  status: string;
  queue_no: number;
}

const ROWS = 'select user_id, status, queue_no from live.live_registration where session_id = $1 order by queue_no';
const HELD = `select count(*)::int as held from live.live_registration where session_id = $1 and status in ('confirmed', 'offered')`;
const isIncreasing = (numbers: readonly number[]): boolean => numbers.every((one, at) => at === 0 || numbers[at - 1]! < one);

/** What must hold at every instant. */
async function overbooked(p: TestPlatform, id: string): Promise<string[]> {
  const [{ held }] = (await p.sql<{ held: number }>(HELD, [id])) as [{ held: number }];
  return held > CAPACITY ? [`${held} of ${CAPACITY} seats are held`] : [];
}

/** What must hold when nothing is on its way. */
async function unsound(p: TestPlatform, id: string): Promise<string[]> {
  const rows = await p.sql<Row>(ROWS, [id]);
  const many = (...statuses: string[]): number => rows.filter(({ status }) => statuses.includes(status)).length;
  const [held, waiting, shown] = [many('confirmed', 'offered'), many('waitlisted'), await count(p, id)];
  const stands = { confirmed: many('confirmed'), offered: many('offered'), waitlisted: waiting };
  const found = Object.entries(stands).flatMap(([name, is]) =>
    shown[name] === is ? [] : [`${shown[name]} ${name} are counted, ${is} stand`],
  );
  if (waiting > 0 && held < CAPACITY) found.push(`${CAPACITY - held} seats are free while ${waiting} wait`);
  return [...found, ...(await overbooked(p, id)), ...(await disorder(p, id, rows))];
}

/** Promotions against the order of the queue, and what was told against what stands. */
async function disorder(p: TestPlatform, id: string, rows: readonly Row[]): Promise<string[]> {
  const placeOf = new Map(rows.map(row => [row.user_id, row.queue_no]));
  const toldOf = async (type: string): Promise<string[]> => (await eventsOf(p, id, type)).map(({ user_id }) => user_id!);
  const [promoted, registered] = [await toldOf('live.session.waitlist_promoted.v1'), await toldOf('live.session.registered.v1')];
  const created = await toldOf('live.registration.created.v1');
  const places = promoted.map(user => placeOf.get(user) ?? -1);
  const waiting = rows.filter(({ status }) => status === 'waitlisted').map(row => row.queue_no);
  const twice = (users: string[]): number => users.length - new Set(users).size;
  return [
    ...(isIncreasing(places) ? [] : ['somebody was promoted before who came earlier']),
    ...(waiting.length > 0 && Math.max(0, ...places) > Math.min(...waiting) ? ['somebody who waits was overtaken'] : []),
    ...(twice(registered) + twice(promoted) + twice(created) > 0 ? ['something was told twice'] : []),
    ...(created.length === rows.length ? [] : [`${created.length} registrations were told, ${rows.length} stand`]),
  ];
}

/** Callers against rows: who was told of a registration has one, who was refused has none. */
function lost(all: readonly Person[], answers: readonly Answer[], rows: readonly Row[]): string[] {
  const having = new Set(rows.map(row => row.user_id));
  return answers.flatMap(({ status, body }, n) => {
    const has = having.has(all[n]!.id);
    if (status === 201 || status === 200) return has ? [] : ['somebody was told of a registration and has none'];
    if (status === 409 && body.reason === 'session_full') return has ? ['somebody was refused and has a registration'] : [];
    return [`a registration was answered with ${status} ${body?.detail}`];
  });
}

/** Looks for more held seats than there are, until it is told to end. @returns what ends it, when the last look is over. */
function watch(p: TestPlatform, id: string, found: Set<string>): () => Promise<void> {
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      for (const one of await overbooked(p, id)) found.add(one);
      await sleep(50);
    }
  })();
  watching.catch(() => undefined); // told by what ends it
  return () => ((isOver = true), watching);
}

/** Kills one or the other process, at instants that the seed gives. */
async function kill(members: readonly Member[], kills: number, next: () => number): Promise<void> {
  for (let n = 0; n < kills; n++) {
    await sleep(next() * KILL_WITHIN_MS);
    const victim = members[Math.floor(next() * members.length)]!;
    victim.kill();
    await victim.untilReady();
  }
}

/** Somebody registers; every other one who gets a seat gives it up. */
async function come(p: TestPlatform, id: string, who: Person, givesUp: boolean): Promise<{ answer: Answer; gone?: number }> {
  const answer = await answered(() => keyed(p, id, who));
  if (answer.body?.status !== 'confirmed' || !givesUp) return { answer };
  return { answer, gone: (await answered(() => cancel(p, id, who))).status };
}

/** All offers run out, the next are offered; what must hold does so each time. */
async function runOut(p: TestPlatform, id: string): Promise<string[]> {
  const found: string[] = [];
  for (let rounds = 0; rounds < 3; rounds++) {
    found.push(...(await unsound(p, id)));
    await p.clock('live', { advance: 'PT12H' });
  }
  return [...found, ...(await unsound(p, id))];
}

const STARTS = { starts_at: '2031-06-04T18:00:00.000Z', ends_at: '2031-06-04T19:00:00.000Z' };
const SCARCE = { capacity: CAPACITY, waitlist_limit: WAITLIST, promotion_mode: 'offer', ...STARTS };

/** Everybody registers at once, some who got a seat give it up, offers run out, and both processes are killed meanwhile; then all is compared. */
export async function fillSeats({ seed, people: many, kills, patches = [] }: SeatOptions): Promise<SeatOutcome> {
  const { p, members, answered: took, end } = await scene(patches);
  const found = new Set<string>();
  let ended = async (): Promise<void> => undefined;
  try {
    await p.clock('live', { now: NOW });
    const [{ id }, all] = [await session(p, SCARCE), await people(p, many)];
    ended = watch(p, id, found);
    const killing = kill(members, kills, random(seed));
    const coming = Promise.all(all.map((who, n) => come(p, id, who, n % 2 === 0)));
    const [came] = await Promise.all([coming, killing]);
    const told = came.map(({ answer }) => answer);
    for (const one of lost(all, told, await p.sql<Row>(ROWS, [id]))) found.add(one);
    for (const { gone = 204 } of came) if (gone !== 204) found.add(`a cancellation was answered with ${gone}`);
    for (const one of await runOut(p, id)) found.add(one);
    if (took.some(requests => requests === 0)) found.add('a process of live answered nobody');
    await ended();
    const cancelled = came.filter(({ gone }) => gone === 204).length;
    return { kills: members.reduce((sum, member) => sum + member.kills, 0), cancelled, violations: [...found] };
  } finally {
    await Promise.allSettled([ended()]);
    await end();
  }
}
