import { SLUGS, schemaOf, type Slug } from '../events/slugs.js';

/** Parts of the platform that one process can run. Source: architecture 3, composition root. */
export const ROLES = ['subgraphs', 'gateway', 'rest', 'relay', 'consumers', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

export interface Config {
  readonly production: boolean;
  readonly port: number;
  /** Base address of the front door, without trailing slash. */
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
  /** Null: embedded transport. */
  readonly amqpUrl: string | null;
  readonly amqpPrefix: string;
  readonly leaseMs: number;
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
  readonly dataDir: string;
  readonly seed: boolean;
  readonly introspection: boolean;
  /** Settings that only one service's contract names, for example `WEBHOOKS_ALLOW_HTTP`. */
  setting(name: string): string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

const envName = (slug: Slug): string => schemaOf(slug).toUpperCase();

function perService(env: Env, prefix: string): Partial<Record<Slug, string>> {
  const entries = SLUGS.map(slug => [slug, env[`${prefix}${envName(slug)}`]] as const).filter(([, value]) => value);
  return Object.fromEntries(entries) as Partial<Record<Slug, string>>;
}

function listOf<T extends string>(name: string, text: string | undefined, allowed: readonly T[]): T[] | null {
  if (!text) return null;
  const values = text.split(',').map(value => value.trim()).filter(Boolean);
  const unknown = values.filter(value => !(allowed as readonly string[]).includes(value));
  if (unknown.length) throw new Error(`${name} names ${unknown.join(', ')}; known are ${allowed.join(', ')}`);
  return values as T[];
}

function integer(env: Env, name: string, fallback: number, min: number, max: number): number {
  const value = env[name] === undefined || env[name] === '' ? fallback : Number(env[name]);
  if (!Number.isInteger(value) || value < min || value > max) throw new Error(`${name} must be a whole number from ${min} to ${max}`);
  return value;
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
  return Object.freeze({
    production, port, baseUrl, manualClock, issuer,
    domain: env.DOMAIN || 'localhost',
    logLevel: env.LOG_LEVEL || (production ? 'info' : 'warn'),
    migrate: oneOf(env, 'MIGRATE', 'auto', 'auto', 'off'),
    databaseUrl: env.DATABASE_URL || null,
    databaseUrls: perService(env, 'DATABASE_URL_'),
    poolMax: integer(env, 'DATABASE_POOL_MAX', 3, 2, 100),
    amqpUrl: env.AMQP_URL || null,
    amqpPrefix: env.AMQP_PREFIX || 'platform',
    leaseMs: integer(env, 'EVENTS_LEASE_MS', 10_000, 200, 600_000),
    services: listOf('SERVICES', env.SERVICES, SLUGS),
    roles: new Set(listOf('ROLES', env.ROLES, ROLES) ?? ROLES),
    subgraphUrls: perService(env, 'SUBGRAPH_URL_'),
    gatewayUrl: env.GATEWAY_URL?.replace(/\/+$/, '') || null,
    jwksUrl: env.IDENTITY_JWKS_URL || null,
    audience: env.PLATFORM_AUDIENCE || 'urn:platform:api',
    signingKek: env.TOKEN_SIGNING_KEK || null,
    encryptionKeys: env.ENCRYPTION_KEYS || null,
    internalSecrets: perService(env, 'INTERNAL_CLIENT_SECRET_'),
    dataDir: env.DATA_DIR || '.data',
    seed: !production && env.SEED !== 'off',
    introspection: oneOf(env, 'INTROSPECTION', production ? 'off' : 'on', 'on', 'off') === 'on',
    setting: (name: string) => env[name] || undefined,
  });
}
