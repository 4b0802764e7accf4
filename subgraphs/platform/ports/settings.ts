import type { ServiceHost } from '../../../runtime/request/context.js';
import { addressFault } from '../../../runtime/http/outside-url.js';
import { parseNetworks, type Network } from '../../../runtime/http/public-address.js';

/** Settings of this service in the environment. */
export interface PlatformSettings {
  /** Distance of the health polls, ms; 0: none. `PLATFORM_HEALTH_POLL_MS`, default 10 s; none with the manual clock, which is for tests. */
  healthPollMs: number;
  /** Distance of the canaries over the bus, ms; 0: none. `PLATFORM_CANARY_MS`, default 60 s. */
  canaryMs: number;
  /** Networks besides the public ones in which a registered service may be. `PLATFORM_INTERNAL_NETWORKS`. */
  internal: readonly Network[];
}

function milliseconds({ config }: ServiceHost, name: string, fallback: number): number {
  const value = Number(config.setting(name) ?? (config.manualClock ? 0 : fallback));
  if (!Number.isInteger(value) || value < 0) throw new Error(`${name} must be a whole number of milliseconds`);
  return value;
}

/** @throws Error naming the variable that is wrong. */
export const readSettings = (host: ServiceHost): PlatformSettings => ({
  healthPollMs: milliseconds(host, 'PLATFORM_HEALTH_POLL_MS', 10_000),
  canaryMs: milliseconds(host, 'PLATFORM_CANARY_MS', 60_000),
  internal: parseNetworks(host.config.setting('PLATFORM_INTERNAL_NETWORKS') ?? (host.config.production ? '' : '127.0.0.0/8')),
});

const known = new WeakMap<ServiceHost, PlatformSettings>();

/** Settings of a running service, read once. */
export function settingsOf(host: ServiceHost): PlatformSettings {
  let settings = known.get(host);
  if (!settings) known.set(host, (settings = readSettings(host)));
  return settings;
}

/** Whether a service may be registered at an address: one that can be asked later, so https in public, or anything in the internal networks. */
export const isServiceAddress = (url: URL, internal: readonly Network[]): boolean =>
  !url.search && !url.hash && /^https?:$/.test(url.protocol) && addressFault(url.href, internal) === null;
