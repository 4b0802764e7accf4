import pg from 'pg';
import { v7 } from 'uuid';
import { inject } from 'vitest';
import { userErasureRequested } from '../../../events/catalogue/identity.js';
import type { Consumer } from '../../../events/consumer.js';
import { startConsumer, type ConsumerDeps, type RunningConsumer } from '../../../events/running-consumer.js';
import * as define from '../../../events/define.js';
import type { EventDefinition } from '../../../events/define.js';
import { appendEvents, prepareEvent, type About } from '../../../events/outbox.js';
import { syncRegistry } from '../../../events/registry.js';
import { startRelay, type Relay, type RelayOptions } from '../../../events/relay.js';
import type { Slug } from '../../../events/slugs.js';
import { createEmbeddedTransport } from '../../../events/transport/embedded.js';
import type { Transport } from '../../../events/transport/port.js';
import { createRabbitTransport, type RabbitOptions } from '../../../events/transport/rabbitmq.js';
import { migrate } from '../../../runtime/data/database.js';
import { openPool, withDatabase } from '../../../runtime/data/pool.js';
import { houseTables } from '../../../runtime/data/house-tables.js';
import { deleteBrokerObjects, noteBroker } from '../../support/broker.js';
import { randomName } from '../../support/database.js';
import { definitions } from './definitions.js';
import { hostOf, inTransaction, silent, sqlOn, type TestContext } from './host.js';

export const events = definitions(define);
export type Kind = 'embedded' | 'rabbitmq';

/** The transport of this run; `npm test` runs these files once on RabbitMQ and once on the embedded one. */
export const kinds: Kind[] = inject('amqpUrl') ? ['rabbitmq'] : ['embedded'];

/** Services that emit and consume in the tests. */
const SERVICES = ['clinical', 'platform', 'identity'] as const satisfies readonly Slug[];
export const LEASE_MS = 1_000;

const CATALOGUE = new Map<string, EventDefinition>(
  [events.stepTaken, events.userMoved, events.probeSent, userErasureRequested].map(event => [event.name, event]),
);

const EFFECT = `
create table public.effect (id bigserial primary key, consumer text not null, event_id uuid not null, order_key text not null, seq bigint not null, n int not null);
grant all on public.effect, public.effect_id_seq to public`;

/** A row of `public.effect`: one run of a handler. */
export interface Effect {
  consumer: string;
  event_id: string;
  order_key: string;
  seq: number;
  n: number;
}

let template: Promise<string> | undefined;

async function admin<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(inject('databaseUrl'), database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A migrated database that the others are cloned from; once per file. */
async function makeTemplate(): Promise<string> {
  const name = randomName('platform_events');
  await admin('postgres', client => client.query(`create database ${name}`));
  const url = withDatabase(inject('databaseUrl'), name);
  await migrate(url, ['events']);
  await admin(name, async client => {
    for (const service of SERVICES) for (const statement of houseTables(service)) await client.query(statement);
    await client.query(EFFECT);
  });
  const pool = openPool('events', url, 1);
  await syncRegistry(sqlOn(pool), CATALOGUE);
  await pool.end();
  return name;
}

export async function dropTemplate(): Promise<void> {
  const name = await template;
  template = undefined; // the next file of this process makes its own
  if (name) await admin('postgres', client => client.query(`drop database ${name} with (force)`));
}

/** A database of its own, and whatever the test started in it; everything ends with `close`. */
export class World {
  readonly #pools = new Map<Slug, pg.Pool>();
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(
    readonly kind: Kind,
    readonly database: string,
    readonly url: string,
    readonly prefix: string,
  ) {}

  /** @param prefix of its objects at the broker. */
  static async open(kind: Kind, prefix = randomName('test')): Promise<World> {
    template ??= makeTemplate();
    const source = await template;
    const name = randomName('platform_events');
    await admin('postgres', client => client.query(`create database ${name} template ${source}`));
    const url = withDatabase(inject('databaseUrl'), name);
    if (kind === 'rabbitmq') noteBroker(prefix, { amqpUrl: inject('amqpUrl')!, databaseUrl: url });
    return new World(kind, name, url, prefix);
  }

  /** Connections that act as the service. */
  pool(slug: Slug): pg.Pool {
    const pool = this.#pools.get(slug) ?? openPool(slug, this.url, 6);
    this.#pools.set(slug, pool);
    return pool;
  }

  get bus(): pg.Pool {
    return this.pool('events');
  }

  onClose(end: () => Promise<unknown>): void {
    this.#ends.unshift(end);
  }

  /** @param url another address of the broker, for example a proxy's. */
  transport({ url = inject('amqpUrl')!, ...more }: Partial<Pick<RabbitOptions, 'url' | 'confirmTimeoutMs' | 'lookMs'>> = {}): Transport {
    const transport =
      this.kind === 'embedded'
        ? createEmbeddedTransport({ pool: this.bus, log: silent, leaseMs: LEASE_MS })
        : createRabbitTransport({ url, pool: this.bus, log: silent, prefix: this.prefix, ...more });
    this.onClose(() => transport.close({ drainMs: 1_000 }));
    return transport;
  }

  async relay(transport: Transport, options: Partial<RelayOptions> = {}): Promise<Relay> {
    const relay = await startRelay({ pool: this.bus, transport, log: silent, leaseMs: LEASE_MS, ...options });
    this.onClose(() => relay.stop());
    return relay;
  }

  async consumer(
    transport: Transport,
    consumer: Consumer<TestContext>,
    { now, ...deps }: Partial<ConsumerDeps> & { now?: () => Date } = {},
  ): Promise<RunningConsumer> {
    const slug = consumer.name.split('.')[0] as Slug;
    const host = hostOf({ slug, pool: this.pool(slug), append: appendEvents, ...(now && { now }) });
    const running = await startConsumer(consumer, host, transport, {
      pool: this.bus,
      catalogue: CATALOGUE,
      memoryRetryMs: [20, 50, 100],
      ...deps,
    });
    this.onClose(() => running.stop({ drainMs: 2_000 }));
    return running;
  }

  /** Emits steps in one transaction of the service and answers the ids. */
  emit(slug: Slug, about: About, ns: readonly number[], event: EventDefinition = events.stepTaken, extra: object = {}): Promise<string[]> {
    return this.emitData(
      slug,
      about,
      ns.map(n => ({ n, ...extra })),
      event,
    );
  }

  emitData(slug: Slug, about: About, data: readonly object[], event: EventDefinition): Promise<string[]> {
    return inTransaction(
      this.pool(slug),
      appendEvents,
      async ctx => {
        ctx.pending.push(...data.map(one => pendingOf(slug, about, one, event)));
        return ctx.pending.map(({ id }) => id);
      },
      () => new Date(),
    );
  }

  /** What the handlers of a consumer did, in the order of their commits per key. */
  async effects(consumer: string): Promise<Effect[]> {
    const { rows } = await this.bus.query<Effect>(
      'select consumer, event_id, order_key, seq::float8 as seq, n from public.effect where consumer = $1 order by id',
      [consumer],
    );
    return rows;
  }

  /** Its effects, once there are so many. */
  effectsOf(consumer: string, count: number, ms = 60_000): Promise<Effect[]> {
    const enough = async (): Promise<Effect[] | false> => {
      const found = await this.effects(consumer);
      return found.length >= count && found;
    };
    return until(`${count} effects of ${consumer}`, enough, ms);
  }

  /** Everything that was emitted is at the transport. */
  published(): Promise<boolean> {
    return until('all is published', async () => (await this.rows('select from events.outbox where published_at is null')).length === 0);
  }

  async rows<Row = Record<string, unknown>>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return sqlOn(this.bus)<Row>(text, params);
  }

  /** SQL as the owner of the database. */
  asOwner<Row = Record<string, unknown>>(text: string, params: unknown[] = []): Promise<Row[]> {
    return admin(this.database, async client => (await client.query(text, params)).rows as Row[]);
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    if (this.kind === 'rabbitmq') await deleteBrokerObjects(inject('amqpUrl')!, this.prefix, this.bus);
    await Promise.all([...this.#pools.values()].map(pool => pool.end()));
    await admin('postgres', client => client.query(`drop database ${this.database} with (force)`));
  }
}

export const newUser = (): string => v7();

export const pendingOf = (slug: Slug, about: About, data: object, event: EventDefinition = events.stepTaken) =>
  prepareEvent(event, data, about, { source: slug, requestId: 'r-1', causationId: null, actor: `service:${slug}`, traceparent: null });

/** Looks until the answer is there. @throws the last answer after `ms`. */
export async function until<T>(what: string, look: () => Promise<T | false | null | undefined>, ms = 20_000): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
