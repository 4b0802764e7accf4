import type { Config } from '../../../runtime/config.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { parseNetworks } from '../../../runtime/http/public-address.js';
import { parseSchedule, RETRY_SECONDS } from '../rules/schedule.js';
import type { Egress } from '../rules/url.js';

/** What the environment sets for this service. Source: section 8, settings. */
export interface WebhookSettings {
  egress: Egress;
  retrySeconds: readonly number[];
  /** Delivery workers that a process starts. */
  workers: number;
  /** Requests in the air of one worker. */
  globalConcurrency: number;
  retentionDays: number;
  /** Hours without a success after which an endpoint is disabled. */
  autoDisableHours: number;
}

function integer(config: Config, name: string, fallback: number, min: number, max: number): number {
  const value = Number(config.setting(name) ?? fallback);
  if (!Number.isInteger(value) || value < min || value > max) throw new Error(`${name} must be a whole number from ${min} to ${max}`);
  return value;
}

/** What development and tests may reach besides. @throws Error in production, where neither setting may exist. Source: rule 18. */
function egressOf(config: Config): Egress {
  const [http, cidrs] = [config.setting('WEBHOOKS_ALLOW_HTTP'), config.setting('WEBHOOKS_EGRESS_ALLOW_CIDRS')];
  if (config.production && (http !== undefined || cidrs !== undefined))
    throw new Error(
      'WEBHOOKS_ALLOW_HTTP and WEBHOOKS_EGRESS_ALLOW_CIDRS are for development and tests; production refuses to start with them',
    );
  return { http: http === 'true', networks: parseNetworks(cidrs ?? '') };
}

/** Settings of this service. @throws Error naming the variable that is wrong. */
export function readSettings(config: Config): WebhookSettings {
  const schedule = config.setting('WEBHOOKS_RETRY_SCHEDULE_SECONDS');
  return {
    egress: egressOf(config),
    retrySeconds: schedule ? parseSchedule(schedule) : RETRY_SECONDS,
    workers: integer(config, 'WEBHOOKS_WORKERS', 1, 1, 16),
    globalConcurrency: integer(config, 'WEBHOOKS_GLOBAL_CONCURRENCY', 512, 1, 10_000),
    autoDisableHours: integer(config, 'WEBHOOKS_AUTO_DISABLE_HOURS', 120, 1, 8760),
    retentionDays: integer(config, 'WEBHOOKS_RETENTION_DAYS', 30, 7, 90),
  };
}

const known = new WeakMap<ServiceHost, WebhookSettings>();

/** Settings of a running service, read once. */
export function settingsOf(host: ServiceHost): WebhookSettings {
  let settings = known.get(host);
  if (!settings) known.set(host, (settings = readSettings(host.config)));
  return settings;
}
