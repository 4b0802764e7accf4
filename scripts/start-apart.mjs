/**
 * `npm run start:apart`: every service in a process of its own, the relay in one more, gateway and REST in another, all on this machine.
 * Each line that a process prints has its name before it; Ctrl-C stops them all, a second one at once. When one of them ends, all end.
 * Without `DATABASE_URL` they share an embedded PostgreSQL, without `AMQP_URL` the embedded transport. The gateway listens on `PORT` (4000),
 * the services on the ports after it, the relay on `PORT` + 100. Other variables are passed on to every process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openDatabase } from '../dist/gateway/composition/database.js';
import { withDevelopmentSecrets } from '../dist/runtime/access/development-secrets.js';
import { loadConfig } from '../dist/runtime/config.js';
import { SERVICES } from '../dist/subgraphs/services.js';

const MAIN = join(import.meta.dirname, '../dist/gateway/main.js');
/** Less garbage collection where all requests pass, for 80 MB; and none in each short pause between them. */
const GATEWAY_OPTIONS = ['--max-semi-space-size=64', '--no-memory-reducer'];
const RELAY_OFFSET = 100;
/** Pauses between lines about the progress while nothing is ready, ms. */
const TICK = 10_000;
/** A second signal within it is the first one again, passed on by npm, ms. */
const SAME_SIGNAL = 500;

async function configured() {
  const env = await withDevelopmentSecrets(process.env);
  return { env, config: loadConfig(env) };
}

const { env, config } = await configured().catch(error => {
  console.error(`Nothing could be started: ${error.message}`);
  process.exit(1);
});
const slugs = Object.keys(SERVICES);
const names = ['gateway', ...slugs, 'relay'];
const width = Math.max(...names.map(name => name.length));
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;
const say = (name, line) => console.log(`${name.padEnd(width)} | ${line}`);
const sayAll = line => say('start:apart', line);

const addressOf = slug => `http://localhost:${config.port + 1 + slugs.indexOf(slug)}`;
const variableOf = slug => `SUBGRAPH_URL_${slug.toUpperCase().replaceAll('-', '_')}`;

/**
 * What the processes have in common, the secrets among it, because all are on this machine, wherever the database is. A server's 100
 * connections are enough for all of them with two for each service.
 */
const sharedEnv = databaseUrl => ({
  DATABASE_POOL_MAX: '2',
  ...env,
  DATABASE_URL: databaseUrl,
  BASE_URL: config.baseUrl,
  GATEWAY_URL: `http://localhost:${config.port}`,
  ...Object.fromEntries(slugs.map(slug => [variableOf(slug), addressOf(slug)])),
});

const own = {
  gateway: { ROLES: 'gateway,rest', PORT: String(config.port) },
  relay: { ROLES: 'relay', PORT: String(config.port + RELAY_OFFSET) },
  ...Object.fromEntries(
    slugs.map(slug => [slug, { SERVICES: slug, ROLES: 'subgraphs,consumers,scheduler', PORT: new URL(addressOf(slug)).port }]),
  ),
};

const children = new Map();
const waiting = new Set(names);
let database = null;
let stopping = null;

function noteReady(name) {
  waiting.delete(name);
  if (waiting.size > 0) return sayAll(`${names.length - waiting.size} of ${names.length} processes are ready`);
  clearInterval(ticker);
  sayAll(`All ${names.length} processes are ready after ${seconds()}: ${config.baseUrl}/  Stop with Ctrl-C.`);
}

function start(name, common) {
  const options = name === 'gateway' ? GATEWAY_OPTIONS : [];
  // A group of its own, so that the Ctrl-C of a terminal comes once and by way of this process; the channel tells it when this one dies.
  const child = spawn(process.execPath, [...options, MAIN], {
    env: { ...common, ...own[name] },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.set(name, child);
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', line => {
      if (line) say(name, line);
      if (line.startsWith('Ready in ')) noteReady(name);
    });
  child.once('exit', (code, signal) => {
    children.delete(name);
    if (stopping) return;
    say(name, `ended by ${signal ?? `exit code ${code}`}`);
    void stop(1);
  });
}

/** Stops every process, then the database, and ends this one. */
function stop(code) {
  stopping ??= (async () => {
    clearInterval(ticker);
    sayAll('Stopping …');
    const ends = [...children.values()].map(child => once(child, 'exit'));
    for (const child of children.values()) child.kill('SIGTERM');
    await Promise.all(ends);
    await database?.stop();
    sayAll('Stopped.');
    process.exit(code);
  })();
  return stopping;
}

let signalledAt = Number.NEGATIVE_INFINITY;
function onSignal() {
  const isSecond = stopping && performance.now() - signalledAt > SAME_SIGNAL;
  signalledAt = stopping ? signalledAt : performance.now();
  if (isSecond) for (const child of children.values()) child.kill('SIGKILL');
  else void stop(0);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);

const ticker = setInterval(() => sayAll(`waiting for ${[...waiting].join(', ')}, ${seconds()}`), TICK);
try {
  database = await openDatabase(config, sayAll);
  sayAll(`${names.length} processes on ${database.name}, ${config.amqpUrl ? 'RabbitMQ' : 'embedded event transport'}`);
  if (!stopping) for (const name of names) start(name, sharedEnv(database.url));
} catch (error) {
  sayAll(`Nothing could be started: ${error.message}`);
  await stop(1);
}
