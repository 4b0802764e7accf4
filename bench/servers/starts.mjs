/**
 * Started by `bench/suite.mjs` in a copy of the checkout: starts the platform again and again in this process, with as many generated
 * services as asked for, and prints what a warm start takes, of all services and of one with its neighbours:
 * `{"all": {"cpuMs": …, "wallMs": …}, "named": …}`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SLUGS, schemaOf } from '../../dist/events/slugs.js';
import { compose } from '../../dist/gateway/compose.js';
import { startPlatform } from '../../dist/gateway/composition/platform.js';
import { loadConfig } from '../../dist/runtime/config.js';
import { createRoles } from '../../dist/runtime/data/database.js';
import { startEmbeddedPostgres } from '../../dist/runtime/embedded-postgres/start.js';
import { SERVICES } from '../../dist/subgraphs/services.js';
import { generatedService } from '../generated-services.mjs';
import { freePort } from '../port.mjs';

const WARM_UP = 4;
const ROUNDS = 5;
const ROOT = join(import.meta.dirname, '../..');
const KEY = Buffer.alloc(32, 7).toString('base64');
const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Adds the services to the list, the route tables and the supergraph of this copy. */
async function generate(count, size) {
  const slugs = SLUGS.filter(slug => !(slug in SERVICES)).slice(0, count);
  const made = slugs.map(slug => generatedService(slug, size));
  globalThis.generatedTables = Object.fromEntries(made.map(({ table }) => [table.service, table]));
  for (const slug of slugs)
    writeFileSync(join(ROOT, `dist/rest-adapter/routes/${slug}.js`), `export default globalThis.generatedTables['${slug}'];\n`);
  const real = await Promise.all(Object.values(SERVICES).map(load => load()));
  const all = [...real, ...made.map(({ declaration }) => declaration)].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  if (count > 0) writeFileSync(join(ROOT, 'gateway/supergraph.graphql'), compose(all));
  return made;
}

async function databaseOf(server, made) {
  const owner = new pg.Client(server);
  await owner.connect();
  await createRoles(server);
  for (const { statements } of made) for (const statement of statements) await owner.query(statement);
  await owner.end();
}

/** Variables by which tests start a service and what every service needs. */
const HERE = ['identity', 'platform', 'clinical'];
const elsewhere = SLUGS.filter(slug => !HERE.includes(slug)).map(slug => [
  `SUBGRAPH_URL_${schemaOf(slug).toUpperCase()}`,
  'http://127.0.0.1:9',
]);
const NAMED = { SERVICES: HERE.join(','), ...Object.fromEntries(elsewhere) };

const environment = (databaseUrl, port, more) => ({
  TOKEN_SIGNING_KEK: KEY,
  ENCRYPTION_KEYS: `bench:${KEY}`,
  SUBGRAPH_SECRET: 'bench-secret-of-the-gateway-0123456789abcdef',
  LEDGER_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64'),
  GIFT_PEPPER: 'bench-pepper-of-gift-codes-0123456789abcdef',
  ...Object.fromEntries(
    SLUGS.map(slug => [`INTERNAL_CLIENT_SECRET_${schemaOf(slug).toUpperCase()}`, `bench-secret-of-${slug}-0123456789`]),
  ),
  PORT: String(port),
  BASE_URL: `http://localhost:${port}`,
  DATABASE_URL: databaseUrl,
  DATABASE_POOL_MAX: '2',
  CLOCK: 'manual',
  LOG_LEVEL: 'error',
  EVENTS_LEASE_MS: '1000',
  REST_PLANS: 'use',
  SUBGRAPH_EXECUTOR: 'eager',
  ...more,
});

async function measure(databaseUrl, services, more = {}) {
  const [wall, cpu] = [[], []];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const [at, before] = [performance.now(), process.cpuUsage()];
    const platform = await startPlatform({ config: loadConfig(environment(databaseUrl, await freePort(), more)), services });
    const { user, system } = process.cpuUsage(before);
    if (round >= WARM_UP) {
      wall.push(performance.now() - at);
      cpu.push((user + system) / 1_000);
    }
    await platform.stop();
  }
  return { cpuMs: Math.round(median(cpu)), wallMs: Math.round(median(wall)) };
}

const [count, size] = [Number(process.argv[2]), JSON.parse(process.argv[3])];
const folder = mkdtempSync(join(tmpdir(), 'platform-starts-'));
const server = await startEmbeddedPostgres({ dataDir: folder, durable: false, log: () => undefined });
try {
  const made = await generate(count, size);
  await databaseOf(server.url, made);
  const generated = Object.fromEntries(made.map(({ declaration }) => [declaration.slug, async () => declaration]));
  const services = { ...SERVICES, ...generated };
  console.log(JSON.stringify({ all: await measure(server.url, services), named: await measure(server.url, services, NAMED) }));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
