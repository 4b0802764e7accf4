import Bowser from 'bowser';

/** What somebody signed in with, as far as the browser names it; null for the rest. */
export interface Device {
  browser: string | null;
  os: string | null;
  /** `desktop`, `mobile`, `tablet`, `tv` or `bot`. */
  formFactor: string | null;
}

/** A longer one is nobody's. */
const LONGEST = 512;

/** Without versions: they change by themselves, and a person recognises the name. */
export function deviceOf(userAgent: string): Device {
  if (!userAgent || userAgent.length > LONGEST) return { browser: null, os: null, formFactor: null };
  const { browser, os, platform } = Bowser.parse(userAgent);
  return { browser: browser.name || null, os: os.name || null, formFactor: platform.type || null };
}

/** ISO 3166-1 alpha-2; null for what is none, such as `XX` and `T1` of networks without a country. */
export const countryOf = (text: string): string | null => (/^[A-Z]{2}$/.test(text) && text !== 'XX' ? text : null);

/** The network that an address key (see `addressKey`) belongs to: an IPv4 /24 or an IPv6 /48, in CIDR form; null for anything else. */
export function networkOf(address: string): string | null {
  const octets = address.split('.');
  if (octets.length === 4) return `${octets.slice(0, 3).join('.')}.0/24`;
  const groups = address.split(':');
  return groups.length === 4 ? `${groups.slice(0, 3).join(':')}::/48` : null;
}
