import { createSealer, type Sealer } from '../../../runtime/data/crypto.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const sealers = new WeakMap<ServiceHost, Sealer>();

/** Seals secrets and bodies: with `WEBHOOKS_SECRET_KEYS` (`id:base64,…`) where it is set, else with the platform's keys. Source: rule 21. */
export function sealerOf(host: ServiceHost): Sealer {
  let sealer = sealers.get(host);
  if (!sealer) {
    const keys = host.config.setting('WEBHOOKS_SECRET_KEYS');
    sealers.set(host, (sealer = keys ? createSealer(keys) : host.sealer));
  }
  return sealer;
}
