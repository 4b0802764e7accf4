import type { Config } from '../../../runtime/config.js';
import { type Network, parseNetworks } from '../../../runtime/http/public-address.js';

/** Networks that development and tests may fetch from besides, over http and on any port. @throws Error in production, which has none. */
export function egressNetworks(config: Config): Network[] {
  const cidrs = config.setting('IDENTITY_EGRESS_ALLOW_CIDRS');
  if (config.production && cidrs !== undefined)
    throw new Error('IDENTITY_EGRESS_ALLOW_CIDRS is for development and tests; production refuses to start with it');
  return parseNetworks(cidrs ?? '');
}
