/**
 * Comms with everything on this machine and the `capture` provider: messages a second from the request to the mailbox, what 100,000 scheduled
 * messages cost while nothing is due, and how long an invitation, of the security lane, waits while 50,000 adverts do.
 *
 *   npm run bench:comms
 *   npm run bench:comms -- --messages 1000 --scheduled 10000 --adverts 5000    a look; default 6000, 100000 and 50000
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { SERVICES } from '../dist/subgraphs/services.js';
import { freePort } from './port.mjs';
import { cpuOf, START_FLAGS, startNode } from './processes.mjs';
import { percentile, range, until } from './system.mjs';

const { values: flags } = parseArgs({
  options: {
    messages: { type: 'string', default: '6000' },
    scheduled: { type: 'string', default: '100000' },
    adverts: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '60' },
  },
});
const [MESSAGES, SCHEDULED, ADVERTS, SECONDS] = [flags.messages, flags.scheduled, flags.adverts, flags.seconds].map(Number);
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const SLUGS = ['identity', 'platform', 'comms'];
const BATCH = 1_000;
const INVITATIONS = 10;

const folder = await mkdtemp(join(tmpdir(), 'bench-comms-'));
const dataDir = join(folder, 'data');
const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
const db = new pg.Pool({ connectionString: server.url, max: 2 });
const query = async (text, values = []) => (await db.query(text, values)).rows;

const base = `http://localhost:${await freePort()}`;
const key = Buffer.alloc(32, 7).toString('base64');
const elsewhere = Object.keys(SERVICES).filter(slug => !SLUGS.includes(slug));
const env = {
  ...process.env,
  ...Object.fromEntries(elsewhere.map(slug => [`SUBGRAPH_URL_${slug.replaceAll('-', '_').toUpperCase()}`, 'http://127.0.0.1:9'])),
  DATABASE_URL: server.url,
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'platform'),
  PORT: new URL(base).port,
  BASE_URL: base,
  SERVICES: SLUGS.join(','),
  TOKEN_SIGNING_KEK: key,
  ENCRYPTION_KEYS: `bench:${key}`,
  SUBGRAPH_SECRET: 'bench-secret-of-the-gateway-0123456789abcdef',
};
const main = join(import.meta.dirname, '../dist/gateway/main.js');
const platform = startNode([...START_FLAGS, main], { env, stdio: ['ignore', 'ignore', 'inherit'] });
const isReady = () =>
  fetch(`${base}/comms/readyz`).then(
    answer => answer.ok,
    () => false,
  );

let token;
async function call(path, content) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(content) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** CPU of the children of a process that have ended, ms. Source: proc(5), where a tick is 10 ms. */
function endedOf(pid) {
  const [, ...fields] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))[1].split(' ');
  return (Number(fields[12]) + Number(fields[13])) * 10;
}

/** CPU that the platform and its PostgreSQL have used, ms: of the backends there are, and of those that have ended. */
const cpu = () => {
  const postmaster = readFileSync(join(dataDir, 'data/postmaster.pid'), 'utf8').split('\n')[0];
  const parentOf = pid => /^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  const used = readdirSync('/proc').flatMap(pid => {
    try {
      return /^\d+$/.test(pid) && parentOf(pid) === postmaster ? [cpuOf({ pid })] : [];
    } catch {
      return []; // it has ended meanwhile
    }
  });
  return [cpuOf(platform), used.reduce((sum, ms) => sum + ms, endedOf(postmaster))];
};

const BACKENDS = "select pid from pg_stat_activity where application_name = 'platform_comms'";

/** CPU of the backends that work for comms, ms by pid. Source: the first figure of schedstat, in ns. */
async function ofComms() {
  const pids = (await query(BACKENDS)).map(({ pid }) => pid);
  return new Map(pids.map(pid => [pid, Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6]));
}

async function idle(name) {
  const [before, first] = [cpu(), await ofComms()];
  let last = first;
  for (let second = 0; second < SECONDS; second++) {
    await sleep(1000);
    last = new Map([...last, ...(await ofComms())]); // one that has ended keeps its last
  }
  const share = ms => ((ms / (SECONDS * 1000)) * 100).toFixed(2);
  const [own, database] = cpu().map((ms, at) => share(ms - before[at]));
  const comms = share([...last].reduce((sum, [pid, ms]) => sum + ms - (first.get(pid) ?? 0), 0));
  console.log(`${name}: ${own} % of a core in the platform's process, ${database} % in PostgreSQL, of which ${comms} % for comms`);
}

const PEOPLE = `
with made as (insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', i.id::text, 'phone', null))).*
    from identity."user" u, unnest($2::uuid[]) i(id) where u.id = $1 returning id),
  mails as (insert into identity.user_email (user_id, email, email_key, verified_at)
    select id, id || '@mail.test', id || '@mail.test', now() from unnest($2::uuid[]) i(id))
insert into identity.user_settings (user_id, marketing_consent, time_zone, time_zone_set_at)
  select i, true, 'Pacific/Auckland', now() from unnest($2::uuid[]) i`;

async function people(count) {
  const ids = range(count).map(() => randomUUID());
  for (let from = 0; from < count; from += 10_000) await query(PEOPLE, [DEMO, ids.slice(from, from + 10_000)]);
  return ids;
}

/** Requests and messages like one that there is, for others: what asking for each would take minutes to make. */
const COPIES = `
with one as (select id as message, request_id as request from comms.message where template = $1 order by id limit 1),
  given as (select gen_random_uuid() as message, gen_random_uuid() as request, i as person from unnest($2::uuid[]) i),
  requests as (insert into comms.send_request select (jsonb_populate_record(r, jsonb_build_object('id', g.request, 'dedupe_key', g.request, 'user_id', g.person))).*
    from comms.send_request r, one, given g where r.id = one.request)
insert into comms.message select (jsonb_populate_record(m, jsonb_build_object('id', g.message, 'request_id', g.request, 'user_id', g.person, 'recipient_key', g.person,
    'status', $3::text, 'scheduled_for', $4::text, 'next_at', coalesce($4::text, now()::text), 'expires_at', '2050-01-01T00:00:00Z', 'lease_until', null,
    'sent_at', null, 'provider_ref', null, 'content_sealed', null, 'attempt_count', 0))).* from comms.message m, one, given g where m.id = one.message`;

const sentOf = async template =>
  (await query("select count(*)::int as n from comms.message where template = $1 and status = 'sent'", [template]))[0].n;

async function rate(ids) {
  const begun = performance.now();
  for (let from = 0; from < ids.length; from += BATCH) {
    const user_ids = ids.slice(from, from + BATCH);
    await call('/comms/v1/messages/batch', { dedupe_key: `bench:${from}`, template: 'welcome', user_ids, channels: ['email'] });
  }
  const asked = (performance.now() - begun) / 1000;
  await until('all to be sent', async () => (await sentOf('welcome')) >= ids.length, 600_000);
  const all = (performance.now() - begun) / 1000;
  console.log(
    `${ids.length} mails: ${(ids.length / all).toFixed(0)}/s from the request to the mailbox, ${asked.toFixed(1)} s of it asking`,
  );
}

const OFFER = 'bench_offer';
const WORDS = '<mj-section><mj-column><mj-text>There is an offer. <a href="{unsubscribe_url}">Stop</a></mj-text></mj-column></mj-section>';

async function offer(id) {
  const variables = { type: 'object', properties: {}, required: [] };
  const made = await call('/comms/v1/admin/templates', { key: OFFER, topic: 'offers', variables, example: {} });
  const words = { subject: 'An offer', text: 'There is an offer.', mjml: `<mjml><mj-body>${WORDS}</mj-body></mjml>` };
  const version = await call(`/comms/v1/admin/templates/${made.id}/versions`, { channel: 'email', locale: 'en', ...words });
  await call(`/comms/v1/admin/templates/${made.id}/versions/${version.id}/publish`, {});
  await call('/comms/v1/messages', { dedupe_key: OFFER, template: OFFER, user_id: id, channels: ['email'] });
}

/** From the request for an invitation to its mail, ms. */
async function invitation(n) {
  const begun = performance.now();
  const invited = async () => (await query("select count(*)::int as n from comms.message where is_auth and status = 'sent'"))[0].n;
  const before = await invited();
  await call('/identity/v1/admin/staff/invite', { email: `invited${n}@mail.test`, roles: ['support'] });
  await until('the invitation', async () => (await invited()) > before, 60_000);
  return performance.now() - begun;
}

await until('the platform', isReady, 300_000);
const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
token = (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form })).json()).access_token;
const everybody = await people(Math.max(MESSAGES, ADVERTS));
await rate(everybody.slice(0, MESSAGES));
await sleep(10_000); // pools and caches come to rest
await idle('idle, nothing scheduled');
await query(COPIES, ['welcome', range(SCHEDULED).map(at => everybody[at % everybody.length]), 'scheduled', '2040-01-01T00:00:00Z']);
await query('analyze comms.message');
await idle(`idle, ${SCHEDULED} scheduled`);
await offer(everybody[0]);
await query(COPIES, [OFFER, everybody.slice(0, ADVERTS), 'queued', null]);
const waits = [];
for (const n of range(INVITATIONS)) waits.push(await invitation(n));
const [{ left }] = await query("select count(*)::int as left from comms.message where template = $1 and status = 'queued'", [OFFER]);
console.log(
  `an invitation while ${ADVERTS} adverts wait (${left} still do): p50 ${percentile(waits, 50).toFixed(0)} ms, longest ${Math.max(...waits).toFixed(0)} ms`,
);
const gone = once(platform, 'exit');
platform.kill('SIGTERM');
await gone;
await db.end();
await server.stop();
await rm(folder, { recursive: true, force: true });
