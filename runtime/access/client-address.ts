import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isInNetworks, parseNetworks, type Network } from '../http/public-address.js';

/** Which of the machines between a client and this process are believed. */
export type TrustedProxies = (address: string, hop: number) => boolean;

/** What a request says of where it comes from. */
export interface Origin {
  /** Other end of the connection; undefined when it is gone. */
  peer: string | undefined;
  /** `X-Forwarded-For`, each proxy's entry behind those of the proxies before it. */
  forwardedFor: string | readonly string[] | undefined;
}

/** Longer chains of proxies do not exist. */
const MAX_HOPS = 16;

/**
 * `TRUSTED_PROXIES`: networks (`10.0.0.0/8, 2001:db8::/32`; an address alone is a network of one) or the number of proxies that a request
 * passes. Empty: none. @throws Error naming what is neither.
 */
export function parseTrustedProxies(text: string): TrustedProxies {
  const value = text.trim();
  if (!/^\d*$/.test(value)) return inNetworks(parseNetworks(value.split(',').map(asNetwork).join(',')));
  const hops = Number(value);
  if (hops > MAX_HOPS) throw new Error(`at most ${MAX_HOPS} proxies can be trusted`);
  return (_address, hop) => hop < hops;
}

const asNetwork = (entry: string): string => {
  const text = entry.trim();
  return isIP(text) ? `${text}/${isIP(text) === 4 ? 32 : 128}` : text;
};

/** A network of everything would let every caller choose its address. @throws Error */
function inNetworks(networks: readonly Network[]): TrustedProxies {
  if (networks.some(([, prefix]) => prefix === 0)) throw new Error('a network of all addresses cannot be trusted');
  return address => isInNetworks(address, networks);
}

/** As a socket that listens for both kinds shows an IPv4 address. */
const MAPPED = '::ffff:';

/**
 * An address as one text: without port, brackets and zone, an IPv4 address in IPv6 form as IPv4; null for anything else. Nearly every request
 * has one that is plain already, of which parsing and printing took a hundredth of a REST read.
 */
function plainAddress(text: string): string | null {
  const ipv4 = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text;
  if (isIP(ipv4) === 4) return ipv4;
  const entry = text.trim();
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(entry)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(entry)?.[1] ?? entry;
  const address = bare.replace(/%[^%]*$/, '');
  return isIP(address) ? ipaddr.process(address).toString() : null;
}

/**
 * Address of the client: from the connection backwards through `X-Forwarded-For`, the first that is not a trusted proxy's; null when the
 * connection is gone. What stands before it was written by somebody who is not trusted. An entry that is no address ends the way.
 */
export function clientAddress({ peer, forwardedFor }: Origin, isTrusted: TrustedProxies): string | null {
  let address = plainAddress(peer ?? '');
  const entries = String(forwardedFor ?? '').split(',');
  for (let hop = 0; address !== null && entries.length > 0 && isTrusted(address, hop); hop++) {
    const before = plainAddress(entries.pop()!);
    if (before === null) break;
    address = before;
  }
  return address;
}
