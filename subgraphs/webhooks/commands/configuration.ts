import type { Sql } from '../../../events/outbox.js';
import type { Sealer } from '../../../runtime/data/crypto.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { WebhookSubscriptionStatus } from '../entities/enums.js';
import type { CustomHeader, StoredSecret } from '../rules/wire.js';
import { sealerOf } from '../ports/sealer.js';

/** What ingest and delivery need of a subscription, in memory. */
export interface SubscriptionConfiguration {
  id: string;
  clientId: string;
  url: string;
  status: WebhookSubscriptionStatus;
  eventTypes: ReadonlySet<string>;
  timeoutMs: number;
  maxConcurrency: number;
  rateLimitPerSecond: number | null;
  spread: number;
  standardHeaders: boolean;
  headers: readonly CustomHeader[];
  secrets: readonly StoredSecret[];
}

interface Row {
  id: string;
  client_id: string;
  url: string;
  status: WebhookSubscriptionStatus;
  event_types: string[];
  timeout_ms: number;
  max_concurrency: number;
  rate_limit_per_second: number | null;
  spread: number;
  standard_headers: boolean;
  headers_sealed: Buffer | null;
  deleted: boolean;
  secrets: { id: string; status: StoredSecret['status']; value: string; activates_at: number | null; expires_at: number | null }[];
}

const VERSION = 'select version::float8 as version from webhooks.webhook_configuration';

const CHANGED = `
select s.id, s.client_id, s.url, s.status, s.event_types, s.timeout_ms, s.max_concurrency, s.rate_limit_per_second, s.spread, s.standard_headers,
  s.headers_sealed, s.deleted_at is not null as deleted,
  (select coalesce(json_agg(json_build_object('id', k.id, 'status', k.status, 'value', encode(k.value_sealed, 'base64'),
    'activates_at', extract(epoch from k.activates_at) * 1000, 'expires_at', extract(epoch from k.expires_at) * 1000)), '[]')
   from webhooks.webhook_secret k where k.subscription_id = s.id) as secrets
from webhooks.webhook_subscription s where s.configuration_version > $1`;

/** How the value of a secret, or the headers of a subscription, are bound to their row. */
export const secretContext = (id: string): string => `webhook_secret.value:${id}`;
export const headersContext = (id: string): string => `webhook_subscription.headers:${id}`;

/**
 * All subscriptions of the suite in this process: 10,000 take about 20 MB. Whoever reads under the shared lock and compares the
 * version sees every change that committed before. Source: section 8, work per event.
 */
export class Configuration {
  #version = -1;
  readonly #byId = new Map<string, SubscriptionConfiguration>();
  readonly #byType = new Map<string, Map<string, SubscriptionConfiguration>>();

  constructor(private readonly sealer: Sealer) {}

  get version(): number {
    return this.#version;
  }

  get(id: string): SubscriptionConfiguration | undefined {
    return this.#byId.get(id);
  }

  /** Active and paused subscriptions to an event type. */
  forType(type: string): SubscriptionConfiguration[] {
    return [...(this.#byType.get(type)?.values() ?? [])];
  }

  /** Subscriptions of a client, disabled ones included. */
  ofClient(clientId: string): SubscriptionConfiguration[] {
    return [...this.#byId.values()].filter(one => one.clientId === clientId);
  }

  /** Loads what changed, unless `version` is what is known. */
  async refresh(sql: Sql, version?: number): Promise<void> {
    const newest = version ?? (await sql<{ version: number }>(VERSION))[0]!.version;
    if (newest <= this.#version) return;
    const rows = await sql<Row>(CHANGED, [this.#version]);
    rows.forEach(row => this.#put(row));
    this.#version = Math.max(this.#version, newest);
  }

  #put(row: Row): void {
    const old = this.#byId.get(row.id);
    old?.eventTypes.forEach(type => this.#byType.get(type)?.delete(row.id));
    if (row.deleted) return void this.#byId.delete(row.id);
    const subscription = this.#open(row);
    this.#byId.set(row.id, subscription);
    if (subscription.status !== 'disabled') subscription.eventTypes.forEach(type => this.#index(type, subscription));
  }

  #index(type: string, subscription: SubscriptionConfiguration): void {
    const known = this.#byType.get(type) ?? new Map<string, SubscriptionConfiguration>();
    this.#byType.set(type, known.set(subscription.id, subscription));
  }

  /** What is sealed is opened when it is first used: one subscription that cannot be opened holds up nobody else. */
  #open(row: Row): SubscriptionConfiguration {
    const { sealer } = this;
    let headers: readonly CustomHeader[] | null = null;
    let secrets: readonly StoredSecret[] | null = null;
    return {
      id: row.id,
      clientId: row.client_id,
      url: row.url,
      status: row.status,
      eventTypes: new Set(row.event_types),
      timeoutMs: row.timeout_ms,
      maxConcurrency: row.max_concurrency,
      rateLimitPerSecond: row.rate_limit_per_second,
      spread: row.spread,
      standardHeaders: row.standard_headers,
      get headers() {
        return (headers ??= openHeaders(sealer, row));
      },
      get secrets() {
        return (secrets ??= row.secrets.map(secret => openSecret(sealer, secret)));
      },
    };
  }
}

const openHeaders = (sealer: Sealer, { id, headers_sealed }: Row): CustomHeader[] =>
  headers_sealed ? (JSON.parse(sealer.open(headers_sealed, headersContext(id))) as CustomHeader[]) : [];

const openSecret = (sealer: Sealer, { id, status, value, activates_at, expires_at }: Row['secrets'][number]): StoredSecret => ({
  status,
  value: sealer.open(Buffer.from(value, 'base64'), secretContext(id)),
  activatesAt: activates_at,
  expiresAt: expires_at,
});

const known = new WeakMap<ServiceHost, Configuration>();

/** The one configuration of a running service. */
export function configurationOf(host: ServiceHost): Configuration {
  let configuration = known.get(host);
  if (!configuration) known.set(host, (configuration = new Configuration(sealerOf(host))));
  return configuration;
}

/** Changes under the exclusive lock, while no event is taken up; answers the version that the changed rows bear. */
export async function changeConfiguration(sql: Sql): Promise<string> {
  await sql('select pg_advisory_xact_lock(webhooks.configuration_lock())');
  const [row] = await sql<{ version: string }>(
    'update webhooks.webhook_configuration set version = version + 1 returning version::text as version',
  );
  return row!.version;
}
