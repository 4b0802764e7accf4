import dns from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isReachable, type Network } from './public-address.js';

/** Addresses of a host name, A and AAAA. @throws Error of node:dns when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The name has no address. */
export class DnsFailure extends Error {
  override name = 'DnsFailure';
}

/** An address that may not be connected to. The message holds none, so that nobody can map a network with it. */
export class BlockedAddress extends Error {
  override name = 'BlockedAddress';
}

const NOTHING_THERE = new Set(['ENODATA', 'ENOTFOUND']);

const emptyWhereNone = (error: { code?: string }): string[] => {
  if (NOTHING_THERE.has(error.code ?? '')) return [];
  throw error;
};

/** Both families of the system's name servers; `/etc/hosts` is not read, so a name cannot be made local there. */
export const resolveByDns: Resolve = async host => {
  const [four, six] = await Promise.all([dns.resolve4(host).catch(emptyWhereNone), dns.resolve6(host).catch(emptyWhereNone)]);
  return [...four, ...six];
};

/**
 * Every address of a host, or none: one that is not public unicast refuses them all, because a name that answers with both is
 * an attempt. A literal address is its own answer. @throws DnsFailure, BlockedAddress. Source: webhooks, rule 16.
 */
export async function checkedAddresses(host: string, resolve: Resolve, allowed: readonly Network[]): Promise<readonly string[]> {
  const addresses = isIP(host)
    ? [host]
    : await resolve(host).catch(cause => Promise.reject(new DnsFailure('the name could not be resolved', { cause })));
  if (addresses.length === 0) throw new DnsFailure('the name has no address');
  if (!addresses.every(address => isReachable(address, allowed)))
    throw new BlockedAddress('the host has an address that may not be reached');
  return addresses;
}

/** `lookup` of a connector that can only answer with addresses that were checked: what is connected to is what was judged. */
export const pinnedLookup =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, callback) => {
    const all = addresses.map(address => ({ address, family: isIP(address) }));
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
