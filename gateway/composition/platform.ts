import 'reflect-metadata';
import { createEventMetrics, type EventMetrics } from '../../events/metrics.js';
import type { Slug } from '../../events/slugs.js';
import type { Revocations } from '../../runtime/access/revocations.js';
import { createVerifier, type TokenVerifier } from '../../runtime/access/token.js';
import type { Config } from '../../runtime/config.js';
import type { Federation } from '../../runtime/federation/federation.js';
import type { RunningService } from '../../runtime/running-service.js';
import { createLogger } from '../../runtime/observe/log.js';
import { createMetrics } from '../../runtime/observe/metrics.js';
import { startTracing } from '../../runtime/observe/tracing.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import type { Gateway } from '../plans/gateway.js';
import { Addresses } from './addresses.js';
import { openBackends, type Backends } from './backends.js';
import { loadDeclarations, type ServiceList } from './declarations.js';
import { directly } from './directly.js';
import { openEndpoints } from './endpoints.js';
import { federationOf } from './federation.js';
import { readableFeed, revocationsOf, startFeeds } from './feeds.js';
import { InternalTokens } from './internal-tokens.js';
import type { Parts } from './parts.js';
import { registrySync } from './relay.js';
import type { ReloadableGateway } from './reloadable-gateway.js';
import { OWN_CLIENT } from './required-secrets.js';
import { startTimersOf } from './schedule.js';
import { prepareServices } from './preparation.js';
import { StopStack } from './shutdown.js';

interface PlatformOptions {
  config: Config;
  services: ServiceList;
  /** Called with a line for people after each step of the start. */
  print?: (line: string) => void;
}

export interface Platform {
  hosts: ReadonlyMap<Slug, RunningService>;
  /** The current gateway; null without the role. */
  readonly gateway: Gateway | null;
  /** Switches to another supergraph, by default the file's, without dropping a request. @throws Error when it does not fit; then nothing has changed. */
  reload(supergraphSdl?: string): Promise<void>;
  /** Whether this start wrote development data. */
  seeded: boolean;
  /** Stops everything in an order that loses nothing: workers, relay, consumers, endpoints, connections, embedded server. */
  stop(): Promise<void>;
}

/** Starts the configured parts of the platform in this process. @throws Error when one cannot start; those that have started are stopped. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const start = new PlatformStart(options);
  try {
    return await start.run();
  } catch (error) {
    await start.stop();
    throw error;
  }
}

class PlatformStart {
  readonly #parts: Parts;
  readonly #eventMetrics: EventMetrics;
  readonly #hosts = new Map<Slug, RunningService>();
  readonly #addresses: Addresses;
  readonly #tokens: InternalTokens;
  readonly #revocations: Revocations;
  readonly #verifier: TokenVerifier;
  #gateway: ReloadableGateway | null = null;
  #working = false;

  constructor(private readonly options: PlatformOptions) {
    const { config, print = () => undefined } = options;
    const [log, metrics] = [createLogger(config.logLevel), createMetrics()];
    this.#parts = { config, log, metrics, stops: new StopStack(log), print };
    this.#eventMetrics = createEventMetrics(metrics.registry);
    this.#addresses = new Addresses(config, this.#hosts);
    this.#tokens = new InternalTokens(config, () => this.#addresses.identity);
    const carriesFeed = config.roles.has('gateway') || (config.services?.includes('identity') ?? true);
    this.#revocations = revocationsOf(() => this.#feed('identity'), log, carriesFeed);
    this.#verifier = this.#createVerifier();
  }

  async run(): Promise<Platform> {
    const { config, stops } = this.#parts;
    const started = Promise.withResolvers<void>();
    if (config.tracesUrl) stops.add((await startTracing(config.tracesUrl)).stop);
    const declarations = loadDeclarations(config, this.options.services); // modules load while the database starts
    declarations.catch(() => undefined); // the step that awaits them fails
    const backends = await this.#step(
      'database',
      () => openBackends(this.#parts),
      ({ description }) => description,
    );
    await this.#step(
      'services',
      async () => this.#openHosts(await declarations, backends),
      () => [...this.#hosts.keys()].join(', '),
    );
    const syncRegistry = registrySync(backends.pool);
    const seeded = await this.#migrate(backends, syncRegistry);
    await this.#step('gateway and endpoints', () => this.#openEndpoints(started.promise));
    await this.#step('events, timers and workers', () => this.#startWork(backends, syncRegistry));
    started.resolve();
    await this.#startRest();
    return this.#platform(seeded);
  }

  async stop(): Promise<void> {
    await this.#parts.stops.run();
    // an error that is kept keeps the objects of its stack until its stack is read: else 70 MB of schemas for each platform of a process
    this.#hosts.clear();
    this.#gateway = null;
  }

  #platform(seeded: boolean): Platform {
    const gateway = (): Gateway | null => this.#gateway?.gateways.current ?? null;
    return {
      hosts: this.#hosts,
      get gateway() {
        return gateway();
      },
      reload: async sdl => this.#gateway?.reload(sdl),
      seeded,
      stop: () => this.stop(),
    };
  }

  async #step<T>(name: string, work: () => Promise<T>, detailOf: (result: T) => string = () => ''): Promise<T> {
    const begun = performance.now();
    const result = await work();
    const [detail, seconds] = [detailOf(result), ((performance.now() - begun) / 1000).toFixed(1)];
    this.#parts.print(`  ${name}${detail ? `: ${detail}` : ''} (${seconds} s)`);
    return result;
  }

  #createVerifier(): TokenVerifier {
    const { issuer, audience, jwksUrl, manualClock } = this.#parts.config;
    const keys = () => jwksUrl ?? `${this.#addresses.identity}/identity/.well-known/jwks.json`;
    return createVerifier({ issuer, audience, jwksUrl: keys, ...(manualClock && { jwksCooldownMs: 0 }) }, this.#revocations);
  }

  #federation(slug: Slug): Federation {
    const { config } = this.#parts;
    const executor = () => this.#gateway!.gateways.current.executor;
    return federationOf(slug, { config, tokens: this.#tokens, verifier: this.#verifier, executor });
  }

  /** The process's own calls are its first service's. */
  get #ownSlug(): Slug {
    return [...this.#hosts.keys()][0] ?? OWN_CLIENT;
  }

  #ownFederation(): Federation {
    return this.#federation(this.#ownSlug);
  }

  /** What a service reads all the time of one that may be hosted here. */
  #feed(owner: Slug, asker: Slug = this.#ownSlug): Federation {
    const host = this.#hosts.get(owner);
    return host ? directly(host, asker) : this.#federation(asker);
  }

  /** What only services need is loaded where there is one: ORM, schemas, flags, jobs and the catalogue of events are 40 MB of a gateway's process. */
  async #openHosts(declarations: readonly ServiceDeclaration[], { databaseUrl, transport }: Backends): Promise<void> {
    if (declarations.length === 0) return;
    const { openHost } = await import('./hosts.js');
    const setting = {
      databaseUrl,
      transport,
      revocations: this.#revocations,
      federation: (slug: Slug) => this.#federation(slug),
      flagFeed: (slug: Slug) => this.#feed('platform', slug),
    };
    for (const declaration of declarations) this.#hosts.set(declaration.slug, openHost(declaration, this.#parts, setting));
  }

  /** Whether development data was written. */
  async #migrate({ databaseUrl }: Backends, syncRegistry: () => Promise<void>): Promise<boolean> {
    const work = async () => {
      if (this.#parts.config.migrate === 'off') return null;
      const { migrateAndSeed } = await import('./migrations.js');
      return migrateAndSeed(databaseUrl, this.#hosts, syncRegistry); // development data may emit events
    };
    const migrated = await this.#step('migrations and development data', work, done => (done ? `${done.applied} applied` : 'off'));
    return migrated?.seeded ?? false;
  }

  async #openEndpoints(started: Promise<void>): Promise<void> {
    await openEndpoints(this.#parts, {
      hosts: this.#hosts,
      addresses: this.#addresses,
      verifier: this.#verifier,
      revocations: this.#revocations,
      federation: slug => (slug ? this.#federation(slug) : this.#ownFederation()),
      onGateway: gateway => {
        this.#gateway = gateway;
        gateway.gateways.add(readableFeed);
      },
      started,
      isWorking: () => this.#working,
    });
    this.#parts.stops.add(() => (this.#working = false));
  }

  /** What nobody waits for at a start: the first looks at a hundred timers, and what no request has made of the services yet. */
  async #startRest(): Promise<void> {
    const hosts = [...this.#hosts.values()];
    await startTimersOf(hosts, this.#parts);
    prepareServices(hosts, this.#parts);
  }

  async #startWork(backends: Backends, syncRegistry: () => Promise<void>): Promise<void> {
    const hosts = [...this.#hosts.values()];
    await startFeeds(this.#parts, backends.transport, this.#revocations, hosts, () => this.#tokens.get(this.#ownSlug));
    if (hosts.length > 0 || this.#parts.config.roles.has('relay')) {
      const { startWork } = await import('./work.js');
      await startWork(this.#parts, { hosts, backends, metrics: this.#eventMetrics, syncRegistry });
    }
    this.#working = true;
  }
}
