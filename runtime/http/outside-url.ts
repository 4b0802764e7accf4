import { isIP } from 'node:net';
import { lazyPackage } from '../lazy.js';
import { isInNetworks, isReachable, type Network } from './public-address.js';

/** With the list of public suffixes. */
const tldts = lazyPackage<typeof import('tldts')>(import.meta.url, 'tldts');

const MAX_URL = 2048;
const LOCAL_SUFFIXES = ['.localhost', '.local', '.internal', '.localdomain', '.home.arpa'];

/** Host of a URL as it is looked up: without brackets and without the root's dot. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

/** A name that means something else in every network. */
export const isLocalName = (host: string): boolean => !host.includes('.') || LOCAL_SUFFIXES.some(suffix => host.endsWith(suffix));

/** Where networks of ours are allowed, a local name may lead there. */
function hostFault(host: string, allowed: readonly Network[]): string | null {
  const reachable = isIP(host) ? isReachable(host) : allowed.length > 0 || !isLocalName(host);
  return reachable ? null : 'must not lead into a private network';
}

/**
 * What is wrong with an address that is to be fetched, as far as it shows without asking anybody: null for nothing. For when it is
 * stored; when it is used, its name is judged by the addresses behind it, too. The WHATWG parser has resolved every odd spelling of
 * an address before. `allowed`: networks where http and any port will do.
 */
export function addressFault(text: string, allowed: readonly Network[] = [], base?: URL): string | null {
  const url = text.length > MAX_URL ? null : URL.parse(text, base?.href);
  if (!url) return 'is not an absolute URL';
  if (url.username || url.password) return 'must not hold a user name or password';
  if (isInNetworks(hostOf(url), allowed)) return null;
  if (url.protocol !== 'https:' || url.port !== '') return 'must be an https URL on port 443';
  return hostFault(hostOf(url), allowed);
}

/** Names that mean nothing to the world, or something else everywhere. Source: RFC 2606, 6761, 8375. */
const RESERVED = /(^|\.)(internal|local|localhost|test|invalid|example|home\.arpa)$/;

/**
 * What is wrong with the address of a page of the web: as {@link addressFault}, but http on port 80 will do, and the host must be a name
 * below a public suffix, no address in any notation.
 */
export function pageFault(text: string, allowed: readonly Network[] = [], base?: URL): string | null {
  const url = text.length > MAX_URL ? null : URL.parse(text, base?.href);
  if (!url) return 'is not an absolute URL';
  if (url.username || url.password) return 'must not hold a user name or password';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an http or https URL';
  const host = hostOf(url);
  if (isInNetworks(host, allowed)) return null;
  if (url.port !== '') return 'must be on port 80 or 443';
  const { isIcann, isIp, domain } = tldts().parse(host, { allowPrivateDomains: false });
  return isIp || isIP(host) || !isIcann || domain === null || RESERVED.test(host) ? 'must not lead into a private network' : null;
}
