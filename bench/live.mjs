/**
 * Live with everything on this machine: open streams of one session in the process of its service and through a gateway in another, the wait from
 * the commit of a change (or of 20 questions and 300 votes a second by 400 people, 60 % of the votes on one question) to each client, what a stream
 * costs in memory, a reconnect of all, registrations of one session, votes for one question, and the end by SIGTERM.
 *
 *   npm run bench:live
 *   npm run bench:live -- --streams 500 --seconds 5    a look; default 2000 and 15
 *   npm run bench:live -- --streams 0 --callers 30     registrations and votes alone
 *   npm run bench:live -- --crowd                      of the streams only those with a crowd
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { loadConfig } from '../dist/runtime/config.js';
import { SERVICES } from '../dist/subgraphs/services.js';
import { freePort } from './port.mjs';
import { cpuOf, START_FLAGS, startNode } from './processes.mjs';
import { percentile } from './system.mjs';
import { userTokens } from './user-tokens.mjs';

const { values: flags } = parseArgs({
  options: {
    streams: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '15' },
    callers: { type: 'string', default: '60' },
    crowd: { type: 'boolean', default: false },
  },
});
const [STREAMS, SECONDS, CALLERS] = [flags.streams, flags.seconds, flags.callers].map(Number);
const CHANGES_PER_SECOND = 20;
const ADMIN = '0190b3a0-0000-7000-8000-0000000000a9';
const SLUGS = ['identity', 'platform', 'live', 'entitlements'];

const folder = await mkdtemp(join(tmpdir(), 'bench-live-'));
const postgres = () => startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });

async function query(text, values = []) {
  const one = new pg.Client({ connectionString: server.url });
  await one.connect();
  const { rows } = await one.query(text, values);
  await one.end();
  return rows;
}

let server = await postgres();
await query('alter system set track_commit_timestamp = on'); // the wait of a client begins with the commit
await server.stop();
server = await postgres();
const [service, gateway] = [await freePort(), await freePort()];
const [direct, through] = [`http://localhost:${service}`, `http://localhost:${gateway}`];
const key = Buffer.alloc(32, 7).toString('base64');
const urls = Object.fromEntries(
  Object.keys(SERVICES).map(slug => [
    `SUBGRAPH_URL_${slug.replaceAll('-', '_').toUpperCase()}`,
    SLUGS.includes(slug) ? direct : 'http://127.0.0.1:9',
  ]),
);
const shared = {
  DATABASE_URL: server.url,
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'platform'),
  BASE_URL: through,
  GATEWAY_URL: through,
  IDENTITY_ISSUER: `${through}/identity`,
  TOKEN_SIGNING_KEK: key,
  ENCRYPTION_KEYS: `bench:${key}`,
  SUBGRAPH_SECRET: 'bench-secret-of-the-gateway-0123456789abcdef',
  LEDGER_SIGNING_KEY: key,
  GIFT_PEPPER: 'bench-pepper-of-gift-codes-0123456789abcdef',
  ...urls,
};
const start = env =>
  startNode([...START_FLAGS, join(import.meta.dirname, '../dist/gateway/main.js')], {
    env: {
      ...process.env,
      ...shared,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
const serving = start({ PORT: String(service), SERVICES: SLUGS.join(','), ROLES: 'subgraphs,relay,consumers,scheduler' });
const passing = start({ PORT: String(gateway), SERVICES: SLUGS.join(','), ROLES: 'gateway,rest' });

async function ready() {
  for (let tries = 0; tries < 1_800; tries++) {
    if (
      await fetch(`${through}/live/readyz`).then(
        answer => answer.ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error('the platform did not start');
}

let token;
async function call(method, path, content, by = token) {
  const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
  const answer = await fetch(`${through}${path}`, { method, headers, ...(content && { body: JSON.stringify(content) }) });
  return { status: answer.status, body: await answer.json().catch(() => null) };
}

const rssKb = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const agent = new http.Agent({ maxSockets: Infinity, keepAlive: false });

/** An entry of the feed: whatever has a number but the state at the beginning. */
const ENTRY = /id: (\d+)\nevent: (?!snapshot)\w+\ndata: /g;

/** One client, with what it has seen: numbers of entries, and when. */
function client(base, id, waits, last) {
  const one = { seen: [], last, request: null };
  const begun = new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(last && { 'last-event-id': last }) };
    one.request = http.get(`${base}/live/v1/sessions/${id}/stream`, { agent, headers }, answer => {
      if (answer.statusCode !== 200) return reject(new Error(`a stream was answered with ${answer.statusCode}`));
      let rest = '';
      answer.on('data', chunk => {
        resolve();
        rest += chunk;
        const end = rest.lastIndexOf('\n\n');
        if (end < 0) return;
        for (const [, seq] of rest.slice(0, end + 2).matchAll(ENTRY)) {
          one.seen.push(Number(seq));
          one.last = seq;
          if (waits) waits.push({ seq: Number(seq), at: Date.now() });
        }
        rest = rest.slice(end + 2);
      });
      answer.on('error', () => undefined);
    });
    one.request.on('error', error => reject(error));
  });
  return begun.then(() => one);
}

async function openAll(base, id, waits, lasts = Array.from({ length: STREAMS }, () => undefined)) {
  const all = [];
  for (let n = 0; n < lasts.length; n += 50) {
    all.push(...(await Promise.all(lasts.slice(n, n + 50).map(last => client(base, id, waits, last)))));
  }
  return all;
}

/** Does something so often a second, whatever becomes of it. Says so where an answer is no success. */
async function paced(perSecond, seconds, act) {
  const begun = performance.now();
  const answers = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    answers.push(act(n));
    const early = begun + ((n + 1) * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
  }
  const bad = (await Promise.all(answers)).filter(({ status }) => status >= 300);
  if (bad.length > 0) console.log(`${bad.length} of ${answers.length} calls failed, the first with ${JSON.stringify(bad[0])}`);
}

/** Changes of the session's title. */
const changes = (id, seconds) =>
  paced(CHANGES_PER_SECOND, seconds, n => call('PATCH', `/live/v1/admin/sessions/${id}`, { title: `${Date.now()} ${n}` }));

const ASKED_FIRST = 10;
const [QUESTIONS_PER_SECOND, VOTES_PER_SECOND, ON_ONE] = [20, 300, 0.6];
let people;

const ask = (id, n) => call('POST', `/live/v1/sessions/${id}/questions`, { body: `Question ${n}?` }, people[n % people.length]);

/** People ask and vote at once; who votes again for the same question takes the vote back, and gives it again. */
async function crowd(id, seconds) {
  const first = await Promise.all(Array.from({ length: ASKED_FIRST }, (_, n) => ask(id, n)));
  const questions = first.map(({ body }) => body.id);
  const given = new Set();
  const vote = n => {
    const [who, which] = [ASKED_FIRST + (n % (people.length - ASKED_FIRST)), n % 10 < ON_ONE * 10 ? 0 : 1 + (n % (ASKED_FIRST - 1))];
    const key = `${who} ${which}`;
    const voted = !given.delete(key);
    if (voted) given.add(key);
    return call('POST', `/live/v1/questions/${questions[which]}/vote`, { voted }, people[who]);
  };
  await Promise.all([paced(VOTES_PER_SECOND, seconds, vote), paced(QUESTIONS_PER_SECOND, seconds, n => ask(id, ASKED_FIRST + n))]);
}

const makeSession = async () =>
  (
    await call('POST', '/live/v1/admin/sessions', {
      kind: 'broadcast',
      title: 'Bench',
      starts_at: '2040-01-01T10:00:00.000Z',
      ends_at: '2040-01-01T11:00:00.000Z',
      host_user_id: ADMIN,
      capacity: 100,
      status: 'scheduled',
      registration_required: false,
      question_moderation: 'post',
    })
  ).body.id;

const COMMITS = `select seq, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at from live.live_feed_entry
  where stream_id = $1 and audience = 'PUBLIC'`;

/** From each change's commit to each client, ms. */
async function fromCommits(id, seen) {
  const commits = new Map((await query(COMMITS, [id])).map(({ seq, at }) => [seq, at]));
  return seen.map(({ seq, at }) => at - commits.get(seq));
}

const VOTES = `select extract(epoch from pg_xact_commit_timestamp(v.xmin))::float8 * 1000 as at from live.live_question_vote v
  join live.live_question q on q.id = v.question_id where q.session_id = $1`;
const TOLD = `select seq, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at from live.live_feed_entry
  where stream_id = $1 and type = 'votes' order by seq`;
/** Votes are told together, twice a second at most: what is committed this long after a vote has read it, ms. */
const [HAS_READ_MS, EACH] = [20, 20];

/** From each vote's commit to every twentieth client, ms. */
async function fromVotes(id, seen) {
  const told = await query(TOLD, [id]);
  const arrivals = Map.groupBy(
    seen.filter((_, n) => n % EACH === 0),
    ({ seq }) => seq,
  );
  return (await query(VOTES, [id])).flatMap(({ at }) => {
    const entry = told.find(one => one.at >= at + HAS_READ_MS);
    return (arrivals.get(entry?.seq) ?? []).map(arrival => arrival.at - at);
  });
}

async function measureStreams(name, base, load) {
  const [id, seen, before] = [await makeSession(), [], rssKb(serving)];
  const begun = performance.now();
  let all = await openAll(base, id, seen);
  const opened = (performance.now() - begun) / 1000;
  const perStream = (rssKb(serving) - before) / STREAMS;
  const [used, at] = [cpu(), performance.now()];
  await load(id, SECONDS);
  const share = cpu().map((ms, n) => ((ms - used[n]) / (performance.now() - at)).toFixed(2));
  await sleep(2_000);
  for (const { request } of all) request.destroy();
  const half = all.map(({ seen, last }) => ({ seen, last }));
  await changes(id, 1);
  const again = performance.now();
  all = await openAll(
    base,
    id,
    null,
    half.map(({ last }) => last),
  );
  await sleep(2_000);
  const whole = all.map(({ seen }, n) => [...half[n].seen, ...seen]);
  const waits = await fromCommits(id, seen);
  const written = (await query(COMMITS, [id]))
    .map(({ seq }) => seq)
    .sort((a, b) => a - b)
    .filter(seq => seq > Math.min(...whole[0]) - 1);
  const votes = load === crowd ? await fromVotes(id, seen) : [];
  const exact = whole.filter(list => list.join() === written.join()).length;
  console.log(
    `${name}: ${STREAMS} open in ${opened.toFixed(1)} s, ${perStream.toFixed(1)} KiB each in the service's process; commit -> client p50 ${percentile(waits, 50).toFixed(0)} ms, ` +
      `p95 ${percentile(waits, 95).toFixed(0)} ms; cores of the service's process ${share[0]}, of the gateway's ${share[1]}; all cut and back in ${((performance.now() - again - 2_000) / 1000).toFixed(1)} s: ${exact} saw each of ${written.length} entries once and in order` +
      (votes.length ? `; from a vote's commit p50 ${percentile(votes, 50).toFixed(0)} ms, p95 ${percentile(votes, 95).toFixed(0)} ms` : ''),
  );
  return all;
}

/** CPU that both processes have used, ms. */
const cpu = () => [serving, passing].map(cpuOf);

/** Calls for one row by many callers at once, as fast as they are answered. */
async function measureOne(what, act) {
  const waits = [];
  const [before, begun] = [cpu(), performance.now()];
  const end = begun + SECONDS * 1000;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() < end) {
        const asked = performance.now();
        const { status } = await act(waits.length);
        if (status >= 300) throw new Error(`one of the ${what} was answered with ${status}`);
        waits.push(performance.now() - asked);
      }
    }),
  );
  const [rate, used] = [waits.length / ((performance.now() - begun) / 1000), cpu().map((ms, n) => (ms - before[n]) / waits.length)];
  console.log(
    `${what} by ${CALLERS} at once through REST: ${rate.toFixed(0)}/s, p95 ${percentile(waits, 95).toFixed(0)} ms; ` +
      `CPU of each ${used[0].toFixed(1)} ms in the service's process, ${used[1].toFixed(1)} ms in the gateway's`,
  );
}

async function measureRegistrations() {
  const id = await makeSession();
  await measureOne('registrations of one session', () => call('POST', `/live/v1/sessions/${id}/registrations`, { user_id: randomUUID() }));
}

async function measureVotes() {
  const { body: question } = await ask(await makeSession(), 0);
  let n = 0;
  await measureOne('votes for one question', () => {
    const [round, who] = [Math.floor(n / (people.length - 1)), 1 + (n % (people.length - 1))];
    n++;
    return call('POST', `/live/v1/questions/${question.id}/vote`, { voted: round % 2 === 0 }, people[who]);
  });
}

/** Start-up goes on after the first answer: the gateway plans its operations for some seconds. Until both use less than a tenth of a core. */
async function settled() {
  for (let seconds = 0; seconds < 90; seconds++) {
    const before = cpu();
    await sleep(1_000);
    if (cpu().every((ms, n) => ms - before[n] < 100)) return;
  }
  console.log('the processes did not come to rest before the run');
}

await ready();
await settled();
const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
token = (await (await fetch(`${through}/identity/v1/oauth/token`, { method: 'POST', body: form })).json()).access_token;
await measureRegistrations();
const issuing = { issuer: shared.IDENTITY_ISSUER, audience: loadConfig({ ...shared, PORT: '0' }).audience };
people = await userTokens(query, key, issuing, Array.from({ length: 400 }, randomUUID), ['read:live', 'write:live']);
await measureVotes();
if (STREAMS > 0) {
  const measures = [
    ...(flags.crowd
      ? []
      : [
          ['in one process', direct, changes],
          ['through a gateway', through, changes],
        ]),
    ['in one process, a crowd asking and voting', direct, crowd],
    ['through a gateway, a crowd asking and voting', through, crowd],
  ];
  for (const [n, [name, base, load]] of measures.entries()) {
    const all = await measureStreams(name, base, load);
    if (n < measures.length - 1) for (const { request } of all) request.destroy();
    await sleep(1_000);
  }
}
const leaving = performance.now();
const gone = once(serving, 'exit');
serving.kill('SIGTERM');
await gone;
console.log(`SIGTERM with ${STREAMS} streams open: ${((performance.now() - leaving) / 1000).toFixed(1)} s`);
const passed = once(passing, 'exit');
passing.kill('SIGTERM');
await passed;
await server.stop();
await rm(folder, { recursive: true, force: true });
