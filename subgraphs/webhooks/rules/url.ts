import { isIP } from 'node:net';
import { hostOf, isLocalName } from '../../../runtime/http/outside-url.js';
import { isInNetworks, type Network } from '../../../runtime/http/public-address.js';

/** What development and tests may do besides; both are off in production. Source: rule 18. */
export interface Egress {
  /** `http` URLs are accepted. */
  http: boolean;
  /** Networks that may be reached, literal or resolved, on any port. */
  networks: readonly Network[];
}

const STRICT: Egress = { http: false, networks: [] };

/** Longest URL, characters. Source: rule 15. */
const MAX_URL = 2048;
/** Below this only the standard port may be named. */
const FIRST_FREE_PORT = 1024;

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function hostViolation(host: string, egress: Egress): string | null {
  if (isIP(host)) return isInNetworks(host, egress.networks) ? null : 'the host must be a name, not an address';
  if (!host.includes('.')) return 'the host must be a full name with a dot';
  if (isLocalName(host)) return 'the host must be a public name';
  return null;
}

/** The parser has left the default port out; an address passed above, and may have any. */
function portViolation(url: URL): string | null {
  const free = url.port === '' || Number(url.port) >= FIRST_FREE_PORT || isIP(hostOf(url)) > 0;
  return free ? null : 'the port must be 443 or at least 1024';
}

/**
 * What is wrong with the URL of a subscription, null for nothing. The WHATWG parser has resolved every odd spelling of an
 * address (`0x7f.1`, `2130706433`) before the host is judged. Checked when it is stored and again when it is used. Source: rule 15.
 */
export function urlViolation(text: string, egress: Egress = STRICT): string | null {
  if (text.length > MAX_URL) return `must have at most ${MAX_URL} characters`;
  const url = parse(text);
  if (!url || url.hostname === '') return 'is not an absolute URL';
  if (url.protocol !== 'https:' && !(egress.http && url.protocol === 'http:')) return 'must begin with https://';
  if (url.username || url.password) return 'must not hold a user name or password';
  if (url.hash || text.includes('#')) return 'must not hold a fragment';
  return hostViolation(hostOf(url), egress) ?? portViolation(url);
}

/** One spelling per endpoint, for uniqueness: parsed, so host in lower case, default port left out, path never empty. */
export const normalisedUrl = (text: string): string => new URL(text).href;

/** A URL without its query, which may hold a secret. */
export const withoutQuery = (text: string): string => {
  const url = new URL(text);
  url.search = '';
  return url.href;
};
