import { once } from 'node:events';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { ADMIN } from '../support/platform.js';
import { separateProcesses, type Processes } from '../support/processes.js';
import { until } from '../support/until.js';
import { change, session, Watcher } from './fixture.js';

let p: Processes;
let token: string;
const watchers: Watcher[] = [];

beforeAll(async () => {
  p = await separateProcesses({ services: ['identity', 'platform', 'live', 'entitlements'] });
  token = await p.serviceToken();
}, 300_000);
afterEach(() => {
  for (const one of watchers.splice(0)) one.close();
});

/** Fixtures that need no user's token work here, too. */
const suite = () => Object.assign(p, { userToken: () => Promise.reject(new Error('no user tokens here')) });

function watch(url: string): Watcher {
  const one = new Watcher(url, token);
  watchers.push(one);
  return one;
}

const streams = (count: number, id: string, base = p.url): Watcher[] =>
  Array.from({ length: count }, () => watch(`${base}/live/v1/sessions/${id}/stream`));
const begun = async (all: readonly Watcher[]): Promise<void> => {
  for (const one of all) await one.until('a snapshot', told => told.length >= 1);
};

/** Sockets to the service's process that are open, seen by the kernel of this machine. */
async function upstream(): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const port = Number(new URL(p.urlOf('live')).port)
    .toString(16)
    .toUpperCase()
    .padStart(4, '0');
  const texts = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(file => readFile(file, 'utf8').catch(() => '')));
  return texts
    .join('\n')
    .split('\n')
    .filter(line => new RegExp(`^\\s*\\d+: \\S+ [0-9A-F]+:${port} 01`).test(line)).length;
}

/** Four of them, one every 15 s, take a stream past a minute, and so past 30 s and 45 s. */
const A_MINUTE = 4;
const beats = ({ seen }: Watcher): number => seen.filter(({ type }) => type === 'heartbeat').length;

test('case 26: 200 streams stay open through the gateway for a minute and beat; others are answered meanwhile, and who leaves frees theirs', async () => {
  const { id } = await session(suite(), { host_user_id: ADMIN });
  const before = await upstream();
  const all = streams(200, id);
  await begun(all);
  expect(await upstream()).toBeGreaterThanOrEqual(before + 200); // more than the gateway's connections to a service
  const reads = await Promise.all(Array.from({ length: 10 }, () => p.rest('GET', `/live/v1/sessions/${id}`, { token })));
  expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
  await change(suite(), id, { title: 'Through the gateway' });
  for (const one of all) await one.until('the change', told => told.length === 2);
  await until(
    'a minute of heartbeats',
    async () => Math.min(...all.map(beats)),
    least => least >= A_MINUTE,
    120_000,
  );
  expect(new Set(all.map(({ connections }) => connections))).toEqual(new Set([1]));
  const open = await upstream();
  for (const one of all.splice(0, 10)) one.close();
  await until('ten connections to close', upstream, still => still <= open - 10);
  await change(suite(), id, { title: 'Still there' });
  for (const one of all) await one.until('the second change', told => told.length === 3);
  expect(new Set(all.map(({ connections }) => connections))).toEqual(new Set([1]));
}, 300_000);

test('case 27: a process that is told to leave says bye to its streams and goes; clients resume at another without a gap', async () => {
  const { id } = await session(suite(), { host_user_id: ADMIN });
  const other = await p.another('live');
  const [here, there] = [streams(50, id, p.urlOf('live')), streams(2, id, other)];
  await begun([...here, ...there]);
  await change(suite(), id, { title: 'First' });
  for (const one of here) await one.until('the change', told => told.length === 2);
  const child = p.children.get('live')!;
  const gone = once(child.process, 'exit');
  const begunAt = performance.now();
  child.process.kill('SIGTERM');
  await gone;
  expect(performance.now() - begunAt).toBeLessThan(25_000); // the bound for consumers; far above what streams take
  for (const one of here)
    expect(await one.until('the bye', told => told.some(({ type }) => type === 'bye'))).toContainEqual(
      expect.objectContaining({ data: { reason: 'shutdown' } }),
    );
  const last = here[0]!.told.findLast(({ type }) => type === 'session')!.id;
  for (const one of here) one.close();
  p.restart('live');
  await until(
    'the process to be back',
    () =>
      fetch(`${p.urlOf('live')}/live/readyz`).then(
        answer => answer.status,
        () => 0,
      ),
    status => status === 200,
    120_000,
  );
  await change(suite(), id, { title: 'Second' });
  const resumed = new Watcher(`${other}/live/v1/sessions/${id}/stream`, token, last);
  watchers.push(resumed);
  const told = await resumed.until('what was missed', seen => seen.length >= 1);
  expect(told.map(({ data }) => data.title)).toEqual(['Second']);
  await there[0]!.until('both', seen => seen.length === 3);
}, 240_000);
