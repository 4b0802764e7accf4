import { readFile, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { v7 } from 'uuid';
import { biomarkerAdded } from '../../../events/catalogue/clinical.js';
import { startPlatform } from '../../../gateway/composition/platform.js';
import { loadConfig } from '../../../runtime/config.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../runtime/embedded-postgres/start.js';
import { giveConsent } from '../../../subgraphs/identity/commands/consent.js';
import { SERVICES } from '../../../subgraphs/services.js';
import { createDatabase, dropDatabase, randomName, templateDatabase } from '../../support/database.js';
import { freePort, platformEnv, RemotePlatform } from '../../support/platform.js';
import { until } from '../../support/until.js';
import type { Patch } from '../wrong-designs.js';
import { OwnBroker } from './broker.js';
import { Member } from './fleet.js';
import { FAULTS, FaultyReceiver, type Fault } from './receivers.js';

/** At least 20. Source: issue 4. */
const USERS = 24;
const RECEIVERS = 2;
const TEMPLATE = randomName('platform_chaos');
/** One second between attempts instead of 1 min … 12 h, and more of them, so that a run of minutes sees many retries and no dead letter. */
const RETRIES = Array.from({ length: 12 }, () => 1).join(',');

/** PostgreSQL and RabbitMQ of one file, on free ports, with folders of their own; both can be killed. */
export class Backends {
  private constructor(
    readonly postgres: EmbeddedPostgres,
    readonly folder: string,
    readonly broker: OwnBroker | null,
  ) {}

  static async start(): Promise<Backends> {
    const folder = await mkdtemp(join(tmpdir(), 'platform-chaos-postgres-'));
    const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
    const broker = await OwnBroker.start();
    if (!broker) console.log('RabbitMQ is not installed here (RABBITMQ_BIN): the embedded transport runs in its place');
    return new Backends(postgres, folder, broker);
  }

  /** Its owner in this process starts it again on the same port. */
  async killPostgres(): Promise<void> {
    const [pid] = (await readFile(join(this.folder, 'data/postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  async stop(): Promise<void> {
    await this.broker?.stop();
    await this.postgres.stop();
    const real = await realpath(this.folder);
    await rm(real, { recursive: true });
    await rm(this.folder, { force: true }); // a link, where root had to put the data elsewhere
  }
}

/** Seeded, with users who have granted the demo app everything that the run emits. */
async function fill(url: string): Promise<void> {
  const platform = await startPlatform({
    config: loadConfig({ ...(await platformEnv(url, { manualClock: false })), ROLES: 'subgraphs,gateway,rest' }),
    services: SERVICES,
  });
  const identity = platform.hosts.get('identity')!;
  for (let n = 0; n < USERS; n++)
    await identity.transaction(async ctx => {
      const id = v7();
      await ctx.sql(`insert into identity."user" (id, status, created_at, updated_at) values ($1, 'active', now(), now())`, [id]);
      await giveConsent(ctx, id, 'demo-app', { granted: [biomarkerAdded.scope!], declined: [] } as never);
    });
  await platform.stop();
}

export interface WorldOptions {
  seed: number;
  patches?: readonly Patch[];
  /** Further variables of the delivery workers' processes. */
  webhooks?: Record<string, string>;
  faults?: readonly Fault[];
}

/** Kinds of processes that are killed. */
export type Kind = 'api' | 'relay' | 'consumers' | 'webhooks';

/** The platform in eight processes on a database and a broker prefix of its own, with receivers outside. */
export class World {
  readonly members = new Map<Kind, readonly Member[]>();
  readonly receivers: FaultyReceiver[] = [];
  readonly apis: RemotePlatform[] = [];
  users: string[] = [];

  private constructor(
    readonly backends: Backends,
    readonly databaseUrl: string,
    readonly owner: pg.Pool,
  ) {
    owner.on('error', () => undefined); // the server is killed now and then
  }

  static async open(backends: Backends, options: WorldOptions): Promise<World> {
    const server = backends.postgres.url;
    const databaseUrl = await createDatabase(server, await templateDatabase(server, TEMPLATE, fill));
    const world = new World(backends, databaseUrl, new pg.Pool({ connectionString: databaseUrl, max: 2 }));
    await world.#start(options);
    await world.#subscribe(options);
    return world;
  }

  async #start({ patches = [], webhooks = {} }: WorldOptions): Promise<void> {
    const { broker } = this.backends;
    const gateway = {
      ...(await platformEnv(this.databaseUrl, { manualClock: false })),
      MIGRATE: 'off',
      LOG_LEVEL: 'warn',
      WEBHOOKS_RETRY_SCHEDULE_SECONDS: RETRIES,
      ...(broker && { AMQP_URL: broker.url, AMQP_PREFIX: randomName('chaos') }),
    } as Record<string, string>;
    const others = {
      GATEWAY_URL: gateway.BASE_URL!,
      SUBGRAPH_URL_IDENTITY: gateway.BASE_URL!,
      IDENTITY_ISSUER: `${gateway.BASE_URL}/identity`,
    };
    const member = async (env: Record<string, string>): Promise<Member> =>
      new Member({ env: { ...gateway, ...others, PORT: String(await freePort()), ...env }, patches });
    const twice = async (make: () => Promise<Member>): Promise<Member[]> => [await make(), await make()];
    const second = String(await freePort());
    const api = { ROLES: 'subgraphs,gateway,rest' };
    this.members.set('api', [await member({ ...api, PORT: gateway.PORT! }), await member({ ...api, PORT: second })]);
    await this.ready();
    this.members.set('relay', await twice(() => member({ ROLES: 'relay' })));
    this.members.set('consumers', await twice(() => member({ ROLES: 'consumers', SERVICES: 'clinical,entitlements' })));
    this.members.set('webhooks', await twice(() => member({ ROLES: 'consumers', SERVICES: 'webhooks', ...webhooks })));
    await this.ready();
    for (const url of [gateway.BASE_URL!, `http://localhost:${second}`]) this.apis.push(new RemotePlatform({ BASE_URL: url }, this.owner));
  }

  get all(): Member[] {
    return [...this.members.values()].flat();
  }

  /** What the processes printed last. */
  told(): string {
    return [...this.members].flatMap(([kind, members]) => members.map(member => `--- ${kind}\n${member.printed.slice(-3_000)}`)).join('\n');
  }

  /** Every process has started. */
  async ready(): Promise<void> {
    await Promise.all(this.all.map(member => member.untilReady()));
  }

  async #subscribe({ seed, faults = FAULTS }: WorldOptions): Promise<void> {
    const [api] = this.apis;
    const token = await api!.serviceToken();
    for (let n = 0; n < RECEIVERS; n++) {
      const receiver = await new FaultyReceiver(`r${n}`, seed, faults).start();
      const body = { client_id: 'demo-app', name: receiver.name, url: receiver.url, event_types: [biomarkerAdded.name], timeout_ms: 1_000 };
      const answer = await api!.rest('POST', '/webhooks/v1/webhook-subscriptions', { token, body });
      if (answer.status !== 201) throw new Error(`no subscription: ${JSON.stringify(answer.body)}`);
      receiver.secret = answer.body.signing_secret;
      this.receivers.push(receiver);
    }
    const rows = await this.sql<{ user_id: string }>(
      `select user_id from identity.oauth_grant where client_id = 'demo-app' and scopes = $1 order by user_id`,
      [[biomarkerAdded.scope]],
    );
    this.users = rows.map(row => row.user_id);
  }

  /** SQL as the owner; while the server is being started again it is waited for. */
  async sql<Row>(text: string, params: unknown[] = []): Promise<Row[]> {
    const ask = (): Promise<Row[] | null> =>
      this.owner.query(text, params).then(
        ({ rows }) => rows as Row[],
        (error: { code?: string }) => (/^[0-4]/.test(error.code ?? '') && error.code !== '57P03' ? Promise.reject(error as Error) : null),
      );
    return (await until('PostgreSQL', ask, rows => rows !== null, 60_000))!;
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(member => member.stop()));
    await Promise.all(this.receivers.map(receiver => receiver.stop()));
    await this.owner.end();
    await dropDatabase(this.databaseUrl);
  }
}
