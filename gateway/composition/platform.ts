import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { CATALOGUE } from '../../events/catalogue.js';
import { createEventMetrics, type EventMetrics } from '../../events/metrics.js';
import { syncRegistry } from '../../events/registry.js';
import { startRelay } from '../../events/relay.js';
import { startReplays } from '../../events/replays.js';
import { startRetention } from '../../events/retention.js';
import type { Slug } from '../../events/slugs.js';
import { createEmbeddedTransport } from '../../events/transport/embedded.js';
import type { Transport } from '../../events/transport/port.js';
import { createRabbitTransport } from '../../events/transport/rabbitmq.js';
import { rewriteUrl } from '../../rest-adapter/address.js';
import type { Config } from '../../runtime/config.js';
import { migrate, openPool } from '../../runtime/data/database.js';
import type { Federation } from '../../runtime/federation/federation.js';
import type { ServiceHost } from '../../runtime/host.js';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger, loggedError, type Logger } from '../../runtime/observe/log.js';
import type { Revocation, Revocations } from '../../runtime/access/revocations.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { createMetrics, type Metrics } from '../../runtime/observe/metrics.js';
import { startTracing } from '../../runtime/observe/tracing.js';
import { createVerifier, type TokenVerifier } from '../../runtime/access/token.js';
import { LocalDataSource, type SubgraphSource } from '../sources/data-source.js';
import { openDatabase } from './database.js';
import { docsRoutes } from '../documents/docs.js';
import { authenticator, graphqlDoor, restDoor, type DoorOptions } from '../endpoints/endpoints.js';
import { openFront, type Front } from './public-gateway.js';
import type { Gateway } from '../plans/gateway.js';
import { healthRoutes, metricsRoute, observeRequests } from '../endpoints/health.js';
import { openHost, revocationsOf, seed } from './hosts.js';
import { HttpDataSource, QUICK_MS } from '../sources/http-data-source.js';
import { InternalTokens, localFederation, remoteFederation } from './internal-client.js';
import { leave } from './shutdown.js';
import { OperationMetrics } from '../metrics/operation-metrics.js';
import { pages } from '../endpoints/pages.js';
import { proxyServices } from '../endpoints/proxy.js';
import { subgraphRoute } from '../endpoints/subgraph.js';
import { untilReachable } from './until-reachable.js';
import { startConsumers, startJobs, startWork } from './workers.js';

export type ServiceList = Readonly<Partial<Record<Slug, () => Promise<ServiceDeclaration>>>>;

export interface PlatformOptions {
  config: Config;
  services: ServiceList;
  /** Told of each step and how long it took, for people who wait. */
  say?: (line: string) => void;
}

export interface Platform {
  /** Where this process answers, for example `http://127.0.0.1:4000`. */
  url: string;
  hosts: ReadonlyMap<Slug, ServiceHost>;
  /** The gateway that answers now; null without the role. */
  readonly gateway: Gateway | null;
  /** Goes over to another supergraph, by default the file's, without dropping a request. @throws Error when it does not fit; then nothing has changed. */
  reload(supergraphSdl?: string): Promise<void>;
  pool: pg.Pool;
  transport: Transport;
  /** Development data was made by this start, so the demo credentials are news. */
  seeded: boolean;
  /** Ends everything in the order that loses nothing: doors, workers, consumers, relay, connections, embedded server. */
  stop(): Promise<void>;
}

/** Connections on which the relay, dead letters and the embedded transport work. */
const EVENTS_POOL = 5;
const DRAIN_MS = 10_000;

/** Starts what the configuration says of the platform in this process. @throws Error when a part cannot start; what had started is ended. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const composition = new Composition(options);
  try {
    return await composition.start();
  } catch (error) {
    await composition.stop();
    throw error;
  }
}

class Composition {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #metrics: Metrics = createMetrics();
  readonly #eventMetrics: EventMetrics = createEventMetrics(this.#metrics.registry);
  readonly #hosts = new Map<Slug, ServiceHost>();
  readonly #ends: (() => Promise<unknown>)[] = [];
  /** What a request needs until it is answered. */
  readonly #behindDoors: (() => Promise<unknown>)[] = [];
  #app: FastifyInstance;
  #front: Front | null = null;
  #revocations: Revocations;
  #verifier: TokenVerifier;
  #tokens: InternalTokens;
  #transport: Transport;
  #pool: pg.Pool;
  #databaseUrl: string;
  #url = '';
  #seeded = false;
  #works = false;
  readonly #started = Promise.withResolvers<void>();
  #registry: Promise<void> | null = null;

  constructor(private readonly options: PlatformOptions) {
    this.#config = options.config;
    this.#log = createLogger(options.config.logLevel);
  }

  async start(): Promise<Platform> {
    if (this.#config.tracesUrl) {
      const tracing = startTracing(this.#config.tracesUrl);
      this.#ends.push(() => tracing.stop());
    }
    const declarations = this.#loadServices(); // modules are read while the database starts
    declarations.catch(() => undefined); // told by the step that needs them
    await this.#step('database', () => this.#openDatabase());
    await this.#step('services', async () => this.#openServices(await declarations));
    await this.#step('migrations and development data', () => this.#prepareDatabase());
    await this.#step('gateway and doors', () => this.#openDoors());
    await this.#step('events, timers and workers', () => this.#startWork());
    const gateway = (): Gateway | null => this.#front?.gateways.current ?? null;
    return {
      url: this.#url,
      hosts: this.#hosts,
      get gateway() {
        return gateway();
      },
      reload: async sdl => this.#front?.reload(sdl),
      pool: this.#pool,
      transport: this.#transport,
      seeded: this.#seeded,
      stop: () => this.stop(),
    };
  }

  /** Runs the ends in reverse; one that fails does not keep the others from running. */
  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) {
      await end().catch(error => this.#log.warn({ err: loggedError(error) }, 'a part did not stop cleanly'));
    }
    this.#letGo();
  }

  /** An error that somebody keeps holds the objects of its stack until the stack is read: 70 MB of schemas for each platform that a process has had. */
  #letGo(): void {
    this.#hosts.clear();
    this.#front = null;
    this.#app = undefined as never;
  }

  async #step(name: string, work: () => Promise<string | void>): Promise<void> {
    const started = performance.now();
    const detail = await work();
    this.options.say?.(`  ${name}${detail ? `: ${detail}` : ''} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }

  async #openDatabase(): Promise<string> {
    const database = await openDatabase(this.#config, line => this.options.say?.(`  ${line}`));
    this.#ends.push(() => database.stop());
    this.#databaseUrl = database.url;
    this.#pool = openPool('events', database.url, EVENTS_POOL);
    this.#ends.push(() => this.#pool.end());
    this.#transport = await this.#openTransport();
    this.#ends.push(() => this.#transport.close({ drainMs: DRAIN_MS }));
    return `${database.name}, ${this.#config.amqpUrl ? 'RabbitMQ' : 'embedded event transport'}`;
  }

  #openTransport(): Promise<Transport> | Transport {
    const { amqpUrl, amqpPrefix, leaseMs, events } = this.#config;
    const log = this.#log.child({ part: 'events' });
    if (amqpUrl)
      return createRabbitTransport({ url: amqpUrl, prefix: amqpPrefix, pool: this.#pool, log, confirmTimeoutMs: events.confirmTimeoutMs });
    return createEmbeddedTransport({ pool: this.#pool, leaseMs, log });
  }

  async #loadServices(): Promise<ServiceDeclaration[]> {
    return Promise.all(this.#wanted().map(slug => this.options.services[slug]!()));
  }

  async #openServices(declarations: readonly ServiceDeclaration[]): Promise<string> {
    const { config } = this;
    this.#revocations = revocationsOf(() => this.#federation(this.#ownSlug()), this.#log);
    this.#tokens = new InternalTokens(config, () => this.#identityUrl());
    const jwksUrl = () => config.jwksUrl ?? `${this.#identityUrl()}/identity/.well-known/jwks.json`;
    this.#verifier = createVerifier(
      { issuer: config.issuer, audience: config.audience, jwksUrl, ...(config.manualClock && { jwksCooldownMs: 0 }) },
      this.#revocations,
    );
    const setting = {
      config,
      databaseUrl: this.#databaseUrl,
      transport: this.#transport,
      metrics: this.#metrics,
      revocations: this.#revocations,
      federation: (slug: Slug) => this.#federation(slug),
      log: this.#log,
    };
    for (const declaration of declarations) {
      const host = await openHost(declaration, setting);
      this.#hosts.set(declaration.slug, host);
      this.#ends.push(() => host.orm.close(true));
    }
    return [...this.#hosts.keys()].join(', ');
  }

  get config(): Config {
    return this.#config;
  }

  #wanted(): Slug[] {
    if (!this.#config.roles.has('subgraphs') && !this.#config.roles.has('consumers') && !this.#config.roles.has('scheduler')) return [];
    const existing = Object.keys(this.options.services) as Slug[];
    const missing = (this.#config.services ?? []).filter(slug => slug !== 'events' && !existing.includes(slug));
    if (missing.length) throw new Error(`SERVICES names ${missing.join(', ')}, which does not exist yet`);
    return this.#config.services ? existing.filter(slug => this.#config.services!.includes(slug)) : existing;
  }

  async #prepareDatabase(): Promise<string> {
    if (this.#config.migrate === 'off') return 'off';
    const applied = await migrate(this.#databaseUrl, [...this.#hosts.keys()], async () => {
      await this.#syncRegistry(); // development data may emit events
      for (const host of this.#hosts.values()) this.#seeded = (await seed(host)) || this.#seeded;
    });
    return `${applied} applied`;
  }

  async #openDoors(): Promise<void> {
    const { config } = this;
    this.#app = createHttp({
      log: this.#log,
      deadlineMs: config.requestDeadlineMs,
      rewriteUrl: (host, url) => rewriteUrl(host, url, config.domain),
    });
    this.#ends.push(() => this.#closeDoors());
    observeRequests(this.#app, this.#metrics);
    metricsRoute(this.#app, this.#metrics);
    const authenticate = authenticator(this.#verifier);
    for (const host of this.#hosts.values()) {
      if (config.roles.has('subgraphs')) subgraphRoute(this.#app, host, async request => void (await authenticate(request)));
      healthRoutes(this.#app, host, () => this.#works);
      if (config.roles.has('subgraphs')) await host.declaration.native?.(this.#app, host, authenticate);
    }
    if (config.roles.has('gateway')) await this.#openGateway();
    await this.#listen();
  }

  async #closeDoors(): Promise<void> {
    this.#works = false;
    await leave(this.#app, this.#config.stopGraceMs);
    for (const end of this.#behindDoors.splice(0).reverse()) await end();
  }

  async #openGateway(): Promise<void> {
    const front = await openFront({
      source: service => this.#sourceOf(service as Slug),
      executor: this.#config.gatewayExecutor,
      federation: () => this.#federation(this.#ownSlug()),
      metrics: new OperationMetrics(this.#metrics.registry),
      log: this.#log,
    });
    this.#front = front;
    this.#behindDoors.push(() => front.stop());
    const door: DoorOptions = {
      config: this.#config,
      gateways: front.gateways,
      hosts: this.#hosts,
      revocations: this.#revocations,
      verifier: this.#verifier,
      log: this.#log,
      started: this.#started.promise,
    };
    const graphql = await graphqlDoor(this.#app, door);
    this.#behindDoors.push(() => graphql.stop());
    if (!this.#config.roles.has('rest')) return;
    await restDoor(this.#app, door);
    await docsRoutes(this.#app);
    await pages(this.#app, [...this.#hosts.keys(), ...(Object.keys(this.#remotes()) as Slug[])]);
    await proxyServices(this.#app, this.#remotes(), this.#config.issuer);
  }

  /** Services that other processes host. */
  #remotes(): Partial<Record<Slug, string>> {
    return Object.fromEntries(Object.entries(this.#config.subgraphUrls).filter(([slug]) => !this.#hosts.has(slug as Slug)));
  }

  #sourceOf(slug: Slug): SubgraphSource {
    const host = this.#hosts.get(slug);
    if (host && this.#config.subgraphCalls === 'process') return new LocalDataSource(host, this.#metrics);
    const url = host ? this.#config.baseUrl : this.#config.subgraphUrls[slug];
    if (!url)
      throw new Error(
        `${slug} is in the supergraph, but neither in this process (SERVICES) nor elsewhere (SUBGRAPH_URL_${slug.toUpperCase().replaceAll('-', '_')})`,
      );
    const source = new HttpDataSource(slug, () => (host ? this.#url : url), this.#metrics, this.#config.subgraphPipelining ? QUICK_MS : 0);
    this.#behindDoors.push(() => source.close());
    return source;
  }

  /** Only this machine in development, because the demo credentials are public. */
  async #listen(): Promise<void> {
    await this.#app.listen({ port: this.#config.port, host: this.#config.production ? '::' : 'localhost' });
    this.#url = `http://localhost:${(this.#app.server.address() as AddressInfo).port}`;
  }

  #identityUrl(): string {
    return this.#hosts.has('identity') || !this.#config.subgraphUrls.identity
      ? this.#url || this.#config.baseUrl
      : this.#config.subgraphUrls.identity;
  }

  /** A process without services asks as platform. */
  #ownSlug(): Slug {
    return [...this.#hosts.keys()][0] ?? 'platform';
  }

  #federation(slug: Slug): Federation {
    const remote = this.#config.gatewayUrl;
    if (this.#config.roles.has('gateway'))
      return localFederation(slug, this.#tokens, this.#verifier, () => this.#front!.gateways.current.executor);
    if (!remote) throw new Error('GATEWAY_URL is not set, and this process has no gateway role');
    return remoteFederation(slug, this.#tokens, remote);
  }

  async #startWork(): Promise<void> {
    const { roles } = this.#config;
    this.#listenToHints();
    await this.#hear();
    if (roles.has('consumers')) await this.#startConsumers();
    if (roles.has('relay')) await this.#startRelay();
    for (const host of this.#hosts.values()) {
      for (const work of await startWork(host)) this.#ends.push(() => work.stop());
    }
    const jobs = await startJobs([...this.#hosts.values()], this.#databaseUrl);
    if (jobs) this.#ends.push(() => jobs.stop());
    this.#works = true;
    this.#started.resolve();
  }

  /** The revocation feed and the flags, before anything depends on them. */
  async #hear(): Promise<void> {
    await untilReachable(() => this.#revocations.start(), this.options.say);
    this.#ends.push(async () => this.#revocations.stop());
    await Promise.all([...this.#hosts.values()].map(host => host.flags.start()));
    this.#ends.push(() => Promise.all([...this.#hosts.values()].map(host => host.flags.stop())));
  }

  #listenToHints(): void {
    const hints = [
      this.#transport.onHint('auth.revocations', '*', body => this.#revocations.hear(body as unknown as Revocation)),
      this.#transport.onHint('cache', '*', () => this.#hosts.forEach(host => void host.flags.refresh())),
    ];
    this.#ends.push(async () => hints.forEach(hint => hint.stop()));
  }

  async #startConsumers(): Promise<void> {
    for (const host of this.#hosts.values()) {
      for (const consumer of await startConsumers(host, this.#pool, this.#eventMetrics)) this.#ends.push(() => consumer.stop());
    }
  }

  /** Once per process. */
  #syncRegistry(): Promise<void> {
    this.#registry ??= syncRegistry(
      async <Row>(text: string, params: readonly unknown[] = []) => (await this.#pool.query(text, [...params])).rows as Row[],
      CATALOGUE,
    );
    return this.#registry;
  }

  async #startRelay(): Promise<void> {
    await this.#syncRegistry();
    const [pool, transport, log] = [this.#pool, this.#transport, this.#log.child({ part: 'relay' })];
    const { leaseMs, events } = this.#config;
    const retention = startRetention({ pool, log, logDays: events.logDays });
    const { batch, pollMs } = events;
    const relay = await startRelay({ pool, transport, leaseMs, batch, pollMs, log, metrics: this.#eventMetrics });
    const replays = await startReplays({ pool, transport, leaseMs, log });
    this.#ends.push(
      () => retention.stop(),
      () => relay.stop(),
      () => replays.stop(),
    );
  }
}
