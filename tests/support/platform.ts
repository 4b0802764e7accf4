import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { request as httpRequest } from 'undici';
import { inject } from 'vitest';
import type { Slug } from '../../events/slugs.js';
import { schemaOf, SLUGS } from '../../events/slugs.js';
import { startPlatform, type Platform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import type { RunningService } from '../../runtime/running-service.js';
import { mintUserToken, type MintOptions } from '../identity/mint.js';
import { SERVICES } from '../../subgraphs/services.js';
import { atEnd } from './at-end.js';
import { deleteBrokerObjects, noteBroker } from './broker.js';
import { createDatabase, dropDatabase, randomName, templateDatabase } from './database.js';
import { startReceiver, type Receiver } from './receiver.js';
import { startedInTime } from './start-deadline.js';
import { timedStart } from './times.js';

/** Fixed seeds of conventions 8. */
export const BRAND = '0190b3a0-0000-7000-8000-000000000001';
export const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
export const DEMO2 = '0190b3a0-0000-7000-8000-0000000000a2';
export const ADMIN = '0190b3a0-0000-7000-8000-0000000000a9';

export interface Answer<Body = any> {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

export interface RestOptions {
  token?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface GraphqlAnswer<Data = any> extends Answer {
  data: Data;
  errors: {
    message: string;
    path?: (string | number)[];
    extensions: { code: string; reason?: string; errors?: { pointer: string; message: string }[] };
  }[];
}

export interface TestPlatform {
  url: string;
  env: Record<string, string>;
  host(slug: Slug): RunningService;
  rest<Body = any>(method: string, path: string, options?: RestOptions): Promise<Answer<Body>>;
  graphql<Data = any>(
    query: string,
    variables?: object,
    options?: { token?: string | null; headers?: Record<string, string> },
  ): Promise<GraphqlAnswer<Data>>;
  /** A token of `demo-m2m`, or of another machine client; all its scopes, or some. */
  serviceToken(scope?: string, client?: { id: string; secret: string }): Promise<string>;
  /** A token of the internal client `svc-<slug>`. */
  internalToken(slug: Slug): Promise<string>;
  userToken(userId: string, scopes: string[], options?: Partial<MintOptions>): Promise<string>;
  /** Moves a service's manual clock and waits for what became due. */
  clock(slug: Slug, move: { now: string } | { advance: string }): Promise<void>;
  flag(slug: Slug, key: string, value: boolean | string | null, who?: { brand_id?: string; user_id?: string }): Promise<void>;
  /** SQL as the owner of the database. */
  sql<Row = any>(text: string, params?: unknown[]): Promise<Row[]>;
  receiver(): Promise<Receiver>;
  /** The running parts, for what no endpoint shows. */
  readonly running: Platform;
  stop(): Promise<void>;
}

export interface PlatformSetting {
  /**
   * Services that this file needs besides identity and platform, its neighbours included; default all. The others are answered as
   * unavailable. A start costs the services that are started, and there will be 28.
   */
  services?: readonly Slug[];
  /** `CLOCK=manual` unless false. */
  manualClock?: boolean;
  /**
   * `run`: RabbitMQ where the run has it. The default is the embedded transport, because a broker makes some 50 queues for every
   * platform, and what most files test does not depend on it; journeys, webhooks and the machinery say `run`.
   */
  transport?: 'run' | 'embedded';
  env?: Record<string, string>;
}

const KEY = Buffer.alloc(32, 7).toString('base64');

/** Secrets of the run: fixed, because the template database was sealed with them. */
export const SECRETS: Record<string, string> = {
  TOKEN_SIGNING_KEK: KEY,
  ENCRYPTION_KEYS: `test1:${KEY}`,
  SUBGRAPH_SECRET: 'test-secret-of-the-gateway-0123456789abcdef',
  LEDGER_SIGNING_KEY: KEY,
  GIFT_PEPPER: 'test-pepper-of-gift-codes-0123456789abcdef',
  ...Object.fromEntries(
    SLUGS.map(slug => [`INTERNAL_CLIENT_SECRET_${schemaOf(slug).toUpperCase()}`, `test-secret-of-${slug}-0123456789abcdef`]),
  ),
};

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}

/** Settings under which the same tests must pass: `GATEWAY_EXECUTOR=stock`, `SUBGRAPH_EXECUTOR=stock`, `SUBGRAPH_CALLS=http`. */
const ofTheRun = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])));

/** What every platform needs: tokens and flags. */
const ALWAYS: readonly Slug[] = ['identity', 'platform'];
/** A port on which nobody listens (discard). */
const NOWHERE = 'http://127.0.0.1:9';

/** Variables that leave out all services but the named ones. */
function chosen(services: readonly Slug[]): Record<string, string> {
  const here = [...new Set([...ALWAYS, ...services])];
  const absent = (Object.keys(SERVICES) as Slug[]).filter(slug => !here.includes(slug));
  const urls = absent.map(slug => [`SUBGRAPH_URL_${schemaOf(slug).toUpperCase()}`, NOWHERE]);
  return { SERVICES: here.join(','), ...Object.fromEntries(urls) };
}

/** Variables of one platform of this run: its own port, database and broker prefix. */
export async function platformEnv(databaseUrl: string, setting: PlatformSetting = {}): Promise<Record<string, string>> {
  const port = await freePort();
  const amqpUrl = setting.transport === 'run' ? inject('amqpUrl') : null;
  const prefix = randomName('test');
  if (amqpUrl) noteBroker(prefix, { amqpUrl, databaseUrl });
  return {
    ...SECRETS,
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    DATABASE_URL: databaseUrl,
    CLOCK: setting.manualClock === false ? 'system' : 'manual',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'error',
    EVENTS_LEASE_MS: '2000', // renewed three times in it, by every platform of a run: with 1000 it was the server's most expensive statement
    LEDGER_HEADS_FILE: join(tmpdir(), `ledger-heads-${new URL(databaseUrl).pathname.slice(1)}.jsonl`),
    SEED_CONTENT: 'few', // the seeded database is copied for every file
    REST_PLANS: 'use',
    COMMERCE_SEED_PRODUCTS: '5',
    DATABASE_POOL_MAX: '2', // a server's 100 connections are for three files at a time
    DATABASE_POOL_IDLE_MS: inject('cloneStrategy') === 'file_copy' ? '10000' : '1000', // the embedded server allows 300; a connection is dear to make
    ...(amqpUrl && { AMQP_URL: amqpUrl, AMQP_PREFIX: prefix }),
    ...(setting.services && chosen(setting.services)),
    WEBHOOKS_ALLOW_HTTP: 'true',
    WEBHOOKS_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    SUBGRAPH_EXECUTOR: 'eager', // an operation of a test comes once or twice
    ...ofTheRun('GATEWAY_EXECUTOR', 'SUBGRAPH_EXECUTOR', 'SUBGRAPH_CALLS'),
    ...setting.env,
  };
}

/** What content's seed emits would be handled at the start of every platform, in the middle of its first test. */
async function forgetEvents(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("delete from events.outbox where source = 'content'");
  await client.end();
}

/** A migrated and seeded database of this file, cloned from the run's template. */
export async function seededDatabase(): Promise<string> {
  const server = inject('databaseUrl');
  const template = await templateDatabase(server, inject('templateName'), async url => {
    const started = await startPlatform({
      config: loadConfig({ ...(await platformEnv(url, { manualClock: false })), ROLES: 'subgraphs,gateway,rest' }),
      services: SERVICES,
    });
    // no hour that passes during the run starts a workflow in the middle of a test
    await started.hosts
      .get('workflow')!
      .transaction(ctx => ctx.sql(`update workflow.workflow_trigger set next_at = next_at + interval '50 years'`));
    await started.stop();
    await forgetEvents(url);
  });
  return createDatabase(server, template, inject('cloneStrategy'));
}

/** What a gateway sends to a subgraph's endpoint, which nobody else finds. */
export const AS_GATEWAY = { 'x-subgraph-secret': SECRETS.SUBGRAPH_SECRET! };
const isSubgraph = (path: string): boolean => /^\/[a-z-]+\/graphql$/.test(path);

async function send(url: string, method: string, { token, body, headers }: RestOptions): Promise<Answer> {
  const json = body !== undefined && typeof body !== 'string';
  const answer = await httpRequest(url, {
    method: method as 'GET',
    body: json ? JSON.stringify(body) : (body as string | undefined),
    headers: { ...(json && { 'content-type': 'application/json' }), ...(token && { authorization: `Bearer ${token}` }), ...headers },
  });
  const text = await answer.body.text();
  const isJson = /json/.test(String(answer.headers['content-type'] ?? ''));
  return { status: answer.statusCode, headers: answer.headers, body: isJson && text ? JSON.parse(text) : text };
}

/** Half the life of a service's token, ms. */
const RENEWED_MS = 1_800_000;

interface ServiceClient {
  id: string;
  secret: string;
}

/** A token of a service, as it was asked for. */
interface Minted {
  scope: string;
  client: ServiceClient;
  at: number;
}

/** A platform as its users see it, wherever its processes run. */
export class RemotePlatform {
  readonly #tokens = new Map<string, Promise<string>>();
  readonly #minted = new Map<string, Minted>();
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(
    readonly env: Record<string, string>,
    private readonly owner: pg.Pool,
  ) {
    owner.on('error', () => undefined);
  }

  get url(): string {
    return this.env.BASE_URL!;
  }

  /** A subgraph's endpoint is asked as a gateway asks it. */
  async rest(method: string, path: string, options: RestOptions = {}): Promise<Answer> {
    const given = { ...options, token: await this.#lasting(options.token) };
    return send(`${this.url}${path}`, method, isSubgraph(path) ? { ...given, headers: { ...AS_GATEWAY, ...given.headers } } : given);
  }

  /** A service's token may be older than it lives in a run of more than an hour: then it is another one of the same kind. */
  async #lasting(token: string | null | undefined): Promise<string | null | undefined> {
    const minted = token == null ? undefined : this.#minted.get(token);
    if (!minted || performance.now() - minted.at < RENEWED_MS) return token;
    const key = `${minted.client.id} ${minted.scope}`;
    const newest = await this.serviceToken(minted.scope, minted.client);
    if (newest !== token) return this.#lasting(newest);
    this.#tokens.delete(key);
    return this.serviceToken(minted.scope, minted.client);
  }

  async graphql(
    query: string,
    variables: object = {},
    options: { token?: string | null; headers?: Record<string, string> } = {},
  ): Promise<GraphqlAnswer> {
    const answer = await this.rest('POST', '/graphql', { ...options, body: { query, variables } });
    const unfit = answer.body?.errors?.find((error: { message: string }) => error.message.includes('does not fit its type'));
    if (unfit) throw new Error(`a resolver broke its type: ${JSON.stringify(unfit)}`);
    return { ...answer, data: answer.body?.data, errors: answer.body?.errors ?? [] };
  }

  serviceToken(scope = '', client: ServiceClient = { id: 'demo-m2m', secret: 'demo-m2m-secret' }): Promise<string> {
    const key = `${client.id} ${scope}`;
    const known = this.#tokens.get(key);
    if (known) return known;
    const token = this.#fetchToken(scope, client);
    this.#tokens.set(key, token);
    token.catch(() => this.#tokens.delete(key));
    return token;
  }

  async #fetchToken(scope: string, client: ServiceClient): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
      ...(scope && { scope }),
    });
    const answer = await this.rest('POST', '/identity/v1/oauth/token', {
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${JSON.stringify(answer.body)}`);
    this.#minted.set(answer.body.access_token, { scope, client, at: performance.now() });
    return answer.body.access_token;
  }

  internalToken(slug: Slug): Promise<string> {
    return this.serviceToken('', { id: `svc-${slug}`, secret: SECRETS[`INTERNAL_CLIENT_SECRET_${schemaOf(slug).toUpperCase()}`]! });
  }

  async clock(slug: Slug, move: { now: string } | { advance: string }): Promise<void> {
    await this.#control(`/${slug}/v1/admin/test-clock`, move);
  }

  async flag(slug: Slug, key: string, value: boolean | string | null, who: { brand_id?: string; user_id?: string } = {}): Promise<void> {
    await this.#control(`/${slug}/v1/admin/test-flags`, { key, value, ...who });
  }

  async #control(path: string, body: object): Promise<void> {
    const answer = await this.rest('POST', path, { token: await this.serviceToken(), body });
    if (answer.status !== 200) throw new Error(`${path} was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async sql<Row = any>(text: string, params: unknown[] = []): Promise<Row[]> {
    return (await this.owner.query(text, params)).rows as Row[];
  }

  async receiver(): Promise<Receiver> {
    const receiver = await startReceiver();
    this.#ends.push(() => receiver.stop());
    return receiver;
  }

  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    if (this.env.AMQP_URL) await deleteBrokerObjects(this.env.AMQP_URL, this.env.AMQP_PREFIX!, this.owner);
    await this.owner.end();
  }
}

class LocalPlatform extends RemotePlatform implements TestPlatform {
  constructor(
    env: Record<string, string>,
    readonly running: Platform,
    databaseUrl: string,
  ) {
    super(env, new pg.Pool({ connectionString: databaseUrl, max: 2 }));
  }

  host(slug: Slug): RunningService {
    return this.running.hosts.get(slug)!;
  }

  userToken(userId: string, scopes: string[], options: Partial<MintOptions> = {}): Promise<string> {
    return mintUserToken(this.host('identity'), { clientId: 'demo-app', ...options, userId, scopes });
  }

  override async stop(): Promise<void> {
    await this.running.stop();
    await super.stop();
  }
}

async function start(setting: PlatformSetting): Promise<{ running: LocalPlatform; end(): Promise<void> }> {
  const databaseUrl = await seededDatabase();
  const env = await platformEnv(databaseUrl, setting);
  const begin = () => startedInTime(startPlatform({ config: loadConfig(env), services: SERVICES }), databaseUrl, env.AMQP_URL);
  const started = await timedStart(begin, setting.services !== undefined).catch(async error => {
    await dropDatabase(databaseUrl);
    throw error;
  });
  const running = new LocalPlatform(env, started, databaseUrl);
  const end = async (): Promise<void> => {
    await running.stop();
    await dropDatabase(databaseUrl);
  };
  return { running, end };
}

/** Starts a platform in this process on a database of its own; both are gone after the file. */
export async function platform(setting: PlatformSetting = {}): Promise<TestPlatform> {
  const { running, end } = await start(setting);
  atEnd(end);
  return running;
}

/** What a file may do with a platform that others use, too. */
export type SharedPlatform = Pick<TestPlatform, 'url' | 'rest' | 'graphql' | 'serviceToken' | 'internalToken' | 'userToken' | 'sql'>;

const SHARED = ['url', 'rest', 'graphql', 'serviceToken', 'internalToken', 'userToken', 'sql'];
/** Paths whose effect all files of the worker would feel. */
const FOR_ALL = /\/(test-clock|test-flags|test-faults)$|\/(revoke|revocations?)\b|\/kill$/;
const READS = /^\s*(select|with|explain)\b/i;
const WRITES = /\b(insert\s+into|update\s+\S+\s+set|delete\s+from|truncate|alter|create|drop)\b/i;

const refused = (what: string): never => {
  throw new Error(`${what} on the shared platform: other files would feel it, so this file needs platform()`);
};

/** Lets through what no other file can feel. */
function guarded(shared: LocalPlatform): SharedPlatform {
  const rest: TestPlatform['rest'] = (method, path, options) =>
    FOR_ALL.test(path.split('?')[0]!) ? refused(`${method} ${path}`) : shared.rest(method, path, options);
  const sql: TestPlatform['sql'] = (text, params) =>
    !READS.test(text) || WRITES.test(text) ? refused('writing SQL') : shared.sql(text, params);
  return new Proxy(shared, {
    get: (target, name) => {
      if (name === 'rest') return rest;
      if (name === 'sql') return sql;
      if (!SHARED.includes(String(name)) && name !== 'then') return refused(String(name));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

let shared: Promise<SharedPlatform> | null = null;

/**
 * The platform of this worker, for files without a setting, clock, flag, fault, revocation, broker or write to foreign tables: they assert
 * only on rows that they have made. It lives as long as the worker; its database goes with the run.
 */
export const sharedPlatform = (): Promise<SharedPlatform> => (shared ??= start({}).then(({ running }) => guarded(running)));
