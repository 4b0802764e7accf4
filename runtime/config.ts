import { SLUGS, schemaOf, type Slug } from '../events/slugs.js';
import { parseTrustedProxies, type TrustedProxies } from './access/client-address.js';
import { MIN_SECRET_BYTES } from './access/subgraph-secret.js';

/** Parts of the platform that one process can run. Source: architecture 3, composition root. */
export const ROLES = ['subgraphs', 'gateway', 'rest', 'relay', 'consumers', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

/** Whether somebody waits for what a process of these roles answers; else all its work is in the background. */
export const answersRequests = (roles: ReadonlySet<Role>): boolean => roles.has('subgraphs') || roles.has('gateway') || roles.has('rest');

export interface Config {
  readonly production: boolean;
  readonly port: number;
  /** Public base URL, without trailing slash. */
  readonly baseUrl: string;
  /** Host names `<slug>.<domain>` reach the services. */
  readonly domain: string;
  readonly manualClock: boolean;
  readonly logLevel: string;
  readonly migrate: 'auto' | 'off';
  /** Null: embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  readonly databaseUrls: Readonly<Partial<Record<Slug, string>>>;
  readonly poolMax: number;
  /** After so long without use a service's connection is closed, ms. */
  readonly poolIdleMs: number;
  /** Null: embedded transport. */
  readonly amqpUrl: string | null;
  readonly amqpPrefix: string;
  readonly leaseMs: number;
  readonly events: EventSettings;
  /** Services of this process; null: all that exist. */
  readonly services: readonly Slug[] | null;
  readonly roles: ReadonlySet<Role>;
  /** Base URLs of other processes: requests for `/<slug>/...` go there. */
  readonly subgraphUrls: Readonly<Partial<Record<Slug, string>>>;
  /** Where the federation is, when the gateway role does not run here. */
  readonly gatewayUrl: string | null;
  readonly issuer: string;
  /** Null: the key set of the process that hosts identity. */
  readonly jwksUrl: string | null;
  readonly audience: string;
  /** 32-byte key, base64, that seals signing keys. */
  readonly signingKek: string | null;
  /** `id:base64` of 32 bytes, comma separated; the first seals, all open. */
  readonly encryptionKeys: string | null;
  readonly internalSecrets: Readonly<Partial<Record<Slug, string>>>;
  /** By which gateways prove themselves to the processes of services. Null: this process calls none, and its subgraph endpoints are closed. */
  readonly subgraphSecret: string | null;
  /** Bearer token of `/metrics`; null: closed in production, open in development. */
  readonly metricsToken: string | null;
  /** Proxies in front of this process whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: TrustedProxies;
  readonly dataDir: string;
  readonly seed: boolean;
  readonly introspection: boolean;
  /** Whether a browser gets GraphiQL at `/graphql`. */
  readonly graphiql: boolean;
  /** What runs query plans: code compiled from them, or @apollo/gateway as it is. */
  readonly gatewayExecutor: 'compiled' | 'stock';
  /** What runs the operations of a subgraph: functions compiled from those that come again (eager: from all), or graphql-js as it is. */
  readonly subgraphExecutor: 'compiled' | 'eager' | 'stock';
  /** How the gateway calls subgraphs of its own process; `http` is for tests of the way over the network. */
  readonly subgraphCalls: 'process' | 'http';
  /** Whether quick queries to another process share connections. */
  readonly subgraphPipelining: boolean;
  /** Whether equal queries of one caller that come while one like them is under way are answered by one execution. */
  readonly sharedAnswers: boolean;
  /** When the operations of the REST rows are planned and the services' schemas made: all in the first seconds after the start, or each at its first use, which tests prefer. */
  readonly restPlans: 'idle' | 'use';
  /** How long a process goes on answering after SIGTERM before it closes its endpoints, ms. */
  readonly stopGraceMs: number;
  /** Time that a request has until what works for it is stopped, ms. */
  readonly requestDeadlineMs: number;
  /** OTLP/HTTP address to which spans go; null: none are made. */
  readonly tracesUrl: string | null;
  /** Settings that only one service's contract names, for example `WEBHOOKS_ALLOW_HTTP`. */
  setting(name: string): string | undefined;
}

/** How the machinery works the log. Source: events 8. */
export interface EventSettings {
  /** Days that the log is kept. */
  readonly logDays: number;
  /** Events per batch and relay group. */
  readonly batch: number;
  /** Longest wait for the broker's confirm. */
  readonly confirmTimeoutMs: number;
  /** Between looks of a busy relay. */
  readonly pollMs: number;
  /** Waits between the tries of a dead letter, where a consumer declares no others. */
  readonly retrySeconds: readonly number[];
  /** Longest run of a handler, where a consumer declares no other. */
  readonly handlerTimeoutMs: number;
}

type Env = Readonly<Record<string, string | undefined>>;

const envName = (slug: Slug): string => schemaOf(slug).toUpperCase();

function perService(env: Env, prefix: string): Partial<Record<Slug, string>> {
  const entries = SLUGS.map(slug => [slug, env[`${prefix}${envName(slug)}`]] as const).filter(([, value]) => value);
  return Object.fromEntries(entries) as Partial<Record<Slug, string>>;
}

function listOf<T extends string>(name: string, text: string | undefined, allowed: readonly T[]): T[] | null {
  if (!text) return null;
  const values = text
    .split(',')
    .map(value => value.trim())
    .filter(Boolean);
  const unknown = values.filter(value => !(allowed as readonly string[]).includes(value));
  if (unknown.length) throw new Error(`${name} names ${unknown.join(', ')}; known are ${allowed.join(', ')}`);
  return values as T[];
}

function integer(env: Env, name: string, fallback: number, min: number, max: number): number {
  const value = env[name] === undefined || env[name] === '' ? fallback : Number(env[name]);
  if (!Number.isInteger(value) || value < min || value > max) throw new Error(`${name} must be a whole number from ${min} to ${max}`);
  return value;
}

function integers(env: Env, name: string, fallback: readonly number[], min: number, max: number): readonly number[] {
  const values = env[name] ? env[name].split(',').map(Number) : fallback;
  if (values.some(value => !Number.isInteger(value) || value < min || value > max))
    throw new Error(`${name} must be whole numbers from ${min} to ${max}, separated by commas`);
  return values;
}

const eventSettings = (env: Env): EventSettings =>
  Object.freeze({
    logDays: integer(env, 'EVENTS_LOG_RETENTION_DAYS', 30, 1, 34), // the inbox, which recognises replays from the log, remembers 35
    batch: integer(env, 'EVENTS_RELAY_BATCH', 500, 1, 2_000),
    confirmTimeoutMs: integer(env, 'EVENTS_CONFIRM_TIMEOUT_MS', 10_000, 100, 600_000),
    pollMs: integer(env, 'EVENTS_POLL_MS', 25, 1, 250),
    retrySeconds: integers(env, 'EVENTS_CONSUMER_RETRY_SECONDS', [30, 120, 600, 3600], 1, 604_800),
    handlerTimeoutMs: integer(env, 'EVENTS_HANDLER_TIMEOUT_MS', 20_000, 100, 600_000),
  });

/** A secret that is sent in a header; null: none is set. @throws Error that says how to make one. */
function secretOf(env: Env, name: string): string | null {
  const value = env[name] || null;
  if (value !== null && (value.length < MIN_SECRET_BYTES || !/^[\x21-\x7e]+$/.test(value)))
    throw new Error(`${name} must be at least ${MIN_SECRET_BYTES} printable ASCII characters; make one with: openssl rand -base64 48`);
  return value;
}

/**
 * Gateway and services of different processes know each other by `SUBGRAPH_SECRET`.
 * @throws Error when it is missing in a process that calls, or is called by, another one.
 */
function subgraphSecretOf(env: Env, roles: ReadonlySet<Role>, calls: boolean): string | null {
  const secret = secretOf(env, 'SUBGRAPH_SECRET');
  const isApart = roles.has('gateway') ? calls : roles.has('subgraphs');
  if (secret === null && isApart)
    throw new Error(
      'SUBGRAPH_SECRET is not set, and gateway and services are in different processes: give all of them the same one, made with: openssl rand -base64 48',
    );
  return secret;
}

function trustedProxiesOf(env: Env): TrustedProxies {
  try {
    return parseTrustedProxies(env.TRUSTED_PROXIES ?? '');
  } catch (error) {
    throw new Error(`TRUSTED_PROXIES must be networks or the number of proxies: ${(error as Error).message}`, { cause: error });
  }
}

function oneOf<T extends string>(env: Env, name: string, fallback: T, ...allowed: T[]): T {
  const value = (env[name] || fallback) as T;
  if (!allowed.includes(value)) throw new Error(`${name} must be one of ${allowed.join(', ')}`);
  return value;
}

/**
 * Environment -> frozen configuration; the only reader of the environment.
 * @throws Error naming the variable and what it may be; the process does not start with a wrong one.
 */
export function loadConfig(env: Env): Config {
  const production = env.NODE_ENV === 'production';
  const manualClock = oneOf(env, 'CLOCK', 'system', 'system', 'manual') === 'manual';
  if (production && manualClock) throw new Error('CLOCK=manual is for development and tests; production refuses to start with it');
  const port = integer(env, 'PORT', 4000, 0, 65535);
  const baseUrl = (env.BASE_URL || `http://localhost:${port}`).replace(/\/+$/, '');
  const issuer = (env.IDENTITY_ISSUER || `${baseUrl}/identity`).replace(/\/+$/, '');
  const roles = new Set(listOf('ROLES', env.ROLES, ROLES) ?? ROLES);
  const subgraphUrls = perService(env, 'SUBGRAPH_URL_');
  const subgraphCalls = oneOf<'process' | 'http'>(env, 'SUBGRAPH_CALLS', 'process', 'process', 'http');
  return Object.freeze({
    production,
    port,
    baseUrl,
    manualClock,
    issuer,
    domain: env.DOMAIN || 'localhost',
    logLevel: env.LOG_LEVEL || (production ? 'info' : 'warn'),
    migrate: oneOf(env, 'MIGRATE', 'auto', 'auto', 'off'),
    databaseUrl: env.DATABASE_URL || null,
    databaseUrls: perService(env, 'DATABASE_URL_'),
    poolMax: integer(env, 'DATABASE_POOL_MAX', 3, 2, 100),
    poolIdleMs: integer(env, 'DATABASE_POOL_IDLE_MS', 20_000, 100, 3_600_000),
    amqpUrl: env.AMQP_URL || null,
    amqpPrefix: env.AMQP_PREFIX || 'platform',
    leaseMs: integer(env, 'EVENTS_LEASE_MS', 10_000, 200, 600_000),
    events: eventSettings(env),
    services: listOf('SERVICES', env.SERVICES, SLUGS),
    roles,
    subgraphUrls,
    gatewayUrl: env.GATEWAY_URL?.replace(/\/+$/, '') || null,
    jwksUrl: env.IDENTITY_JWKS_URL || null,
    audience: env.PLATFORM_AUDIENCE || 'urn:platform:api',
    signingKek: env.TOKEN_SIGNING_KEK || null,
    encryptionKeys: env.ENCRYPTION_KEYS || null,
    internalSecrets: perService(env, 'INTERNAL_CLIENT_SECRET_'),
    subgraphSecret: subgraphSecretOf(env, roles, subgraphCalls === 'http' || Object.keys(subgraphUrls).length > 0),
    metricsToken: secretOf(env, 'METRICS_TOKEN'),
    trustedProxies: trustedProxiesOf(env),
    dataDir: env.DATA_DIR || '.data',
    seed: !production && env.SEED !== 'off',
    introspection: oneOf(env, 'INTROSPECTION', production ? 'off' : 'on', 'on', 'off') === 'on',
    graphiql: oneOf(env, 'GRAPHIQL', production ? 'off' : 'on', 'on', 'off') === 'on',
    gatewayExecutor: oneOf<'compiled' | 'stock'>(env, 'GATEWAY_EXECUTOR', 'compiled', 'compiled', 'stock'),
    subgraphExecutor: oneOf<Config['subgraphExecutor']>(env, 'SUBGRAPH_EXECUTOR', 'compiled', 'compiled', 'eager', 'stock'),
    subgraphCalls,
    subgraphPipelining: oneOf(env, 'SUBGRAPH_PIPELINING', 'on', 'on', 'off') === 'on',
    sharedAnswers: oneOf(env, 'SHARED_ANSWERS', 'on', 'on', 'off') === 'on',
    restPlans: oneOf<'idle' | 'use'>(env, 'REST_PLANS', 'idle', 'idle', 'use'),
    stopGraceMs: integer(env, 'STOP_GRACE_MS', production ? 1_000 : 0, 0, 20_000),
    requestDeadlineMs: integer(env, 'REQUEST_DEADLINE_MS', 30_000, 100, 600_000),
    tracesUrl: env.TRACES_URL || null,
    setting: (name: string) => env[name] || undefined,
  });
}
