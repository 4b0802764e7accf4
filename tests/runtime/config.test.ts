import { expect, test } from 'vitest';
import { loadConfig } from '../../runtime/config.js';

test.each([
  [{ NODE_ENV: 'production', CLOCK: 'manual' }, /production refuses/],
  [{ PORT: 'x' }, /PORT/],
  [{ PORT: '70000' }, /PORT/],
  [{ ROLES: 'gateway,cook' }, /cook/],
  [{ SERVICES: 'clinical,kitchen' }, /kitchen/],
  [{ MIGRATE: 'maybe' }, /MIGRATE/],
  [{ DATABASE_POOL_MAX: '1' }, /DATABASE_POOL_MAX/],
  [{ DATABASE_POOL_IDLE_MS: '0' }, /DATABASE_POOL_IDLE_MS/],
  [{ EVENTS_LOG_RETENTION_DAYS: '35' }, /EVENTS_LOG_RETENTION_DAYS must be a whole number from 1 to 34/],
  [{ EVENTS_CONSUMER_RETRY_SECONDS: '30,soon' }, /EVENTS_CONSUMER_RETRY_SECONDS/],
  [{ SUBGRAPH_SECRET: 'x'.repeat(31) }, /SUBGRAPH_SECRET must be at least 32 printable ASCII characters; make one with: openssl rand/],
  [{ SUBGRAPH_SECRET: `${'x'.repeat(32)}\n` }, /SUBGRAPH_SECRET/],
  [{ NODE_ENV: 'production', ROLES: 'subgraphs' }, /SUBGRAPH_SECRET is not set, and gateway and services are in different processes/],
  [{ NODE_ENV: 'production', ROLES: 'gateway,rest', SUBGRAPH_URL_IDENTITY: 'http://x' }, /SUBGRAPH_SECRET is not set/],
  [{ METRICS_TOKEN: 'short' }, /METRICS_TOKEN must be at least 32/],
  [{ TRUSTED_PROXIES: 'everybody' }, /TRUSTED_PROXIES must be networks or the number of proxies: everybody/],
])('%j stops the start and says why', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message);
});

test('the defaults are everything in one process, embedded', () => {
  const config = loadConfig({});
  expect(config).toMatchObject({
    port: 4000,
    baseUrl: 'http://localhost:4000',
    issuer: 'http://localhost:4000/identity',
    databaseUrl: null,
    amqpUrl: null,
    services: null,
    manualClock: false,
    introspection: true,
  });
  expect(config.roles.size).toBe(6);
  expect(Object.isFrozen(config)).toBe(true);
});

test('the machinery takes its settings, and their defaults', () => {
  expect(loadConfig({}).events).toEqual({
    logDays: 30,
    batch: 500,
    confirmTimeoutMs: 10_000,
    pollMs: 25,
    retrySeconds: [30, 120, 600, 3600],
    handlerTimeoutMs: 20_000,
  });
  expect(loadConfig({ EVENTS_RELAY_BATCH: '50', EVENTS_CONSUMER_RETRY_SECONDS: '1, 2' }).events).toMatchObject({
    batch: 50,
    retrySeconds: [1, 2],
  });
});

test('production makes no seeds, shows no schema and has no page for queries', () => {
  expect(loadConfig({ NODE_ENV: 'production' })).toMatchObject({ seed: false, introspection: false, graphiql: false });
  expect(loadConfig({ NODE_ENV: 'production', GRAPHIQL: 'on' }).graphiql).toBe(true);
  expect(loadConfig({}).graphiql).toBe(true);
});

test.each([{}, { ROLES: 'relay' }, { ROLES: 'consumers,scheduler' }])('%j calls no other process and needs no SUBGRAPH_SECRET', env => {
  expect(loadConfig({ NODE_ENV: 'production', ...env }).subgraphSecret).toBeNull();
});

test('a service with a dash is named with an underscore', () => {
  expect(loadConfig({ SUBGRAPH_URL_PATIENT_GRAPH: 'http://x', SUBGRAPH_SECRET: 'x'.repeat(32) }).subgraphUrls).toEqual({
    'patient-graph': 'http://x',
  });
});
