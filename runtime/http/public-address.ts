import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** A network in parsed form: first address and prefix length. */
export type Network = readonly [Address, number];

/** Public by the registries, but answered inside a cloud: the wire server of one large provider. */
const INSIDE_CLOUDS: readonly Network[] = [ipaddr.parseCIDR('168.63.129.16/32')];
/** The only IPv6 block from which public unicast addresses are given out. */
const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');
/** Parts of it that are not public unicast, or carry an IPv4 address: protocol assignments with Teredo, documentation twice, 6to4, the AS112 sink. */
const NOT_GLOBAL: readonly Network[] = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map(cidr =>
  ipaddr.parseCIDR(cidr),
);

const within = (address: Address, [network, prefix]: Network): boolean =>
  address.kind() === network.kind() && (address.match as (other: Address, prefix: number) => boolean)(network, prefix);

/** ISATAP puts an IPv4 address into the last 32 bits, after `0000:5efe` or `0200:5efe`. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => parts[5] === 0x5efe && (parts[4]! & 0xfdff) === 0;

/** Whether an address may be connected to from a server. Unicast of the public Internet only, and no IPv6 form of an IPv4 address. Source: webhooks, rule 16. */
function isPublicUnicast(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !INSIDE_CLOUDS.some(network => within(address, network));
  const six = address as ipaddr.IPv6;
  return within(six, GLOBAL_UNICAST) && !NOT_GLOBAL.some(network => within(six, network)) && !isIsatap(six);
}

/** Networks that development and tests may reach although they are not public: `127.0.0.0/8,::1/128`. @throws Error naming the entry that is no network. */
export function parseNetworks(cidrs: string): Network[] {
  return cidrs
    .split(',')
    .map(cidr => cidr.trim())
    .filter(Boolean)
    .map(cidr => {
      if (!ipaddr.isValidCIDR(cidr)) throw new Error(`${cidr} is not a network in CIDR form`);
      return ipaddr.parseCIDR(cidr);
    });
}

/** Whether an address, as text, lies in one of the networks. */
export const isInNetworks = (text: string, networks: readonly Network[]): boolean =>
  isIP(text) > 0 && networks.some(network => within(ipaddr.parse(text), network));

/** Whether an address, as text, may be connected to. Anything that is not an address may not. Source: webhooks, rules 16 and 18. */
export function isReachable(text: string, allowed: readonly Network[] = []): boolean {
  return isIP(text) > 0 && (isPublicUnicast(ipaddr.parse(text)) || isInNetworks(text, allowed));
}
