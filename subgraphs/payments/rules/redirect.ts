interface Allowed {
  /** Verified host names of the brand. */
  hosts: readonly string[];
  /** Addresses that the app has registered. */
  redirectUris: readonly string[];
  production: boolean;
}

const originOf = (text: string): string | null => URL.parse(text)?.origin ?? null;

/**
 * What is wrong with an address that a customer is sent back to; null for nothing. Its origin must be the brand's or one that the app has
 * registered: a page of ours must not lead anywhere else. Source: payments 4.3, 7.14.
 */
export function redirectFault(text: string, { hosts, redirectUris, production }: Allowed): string | null {
  const url = URL.parse(text);
  if (!url || text.length > 2048) return 'is not an absolute URL';
  if (url.username || url.password) return 'must not hold a user name or password';
  const isLocal = url.protocol === 'http:' && url.hostname === 'localhost';
  if (isLocal) return production ? 'must be an https URL' : null;
  if (url.protocol !== 'https:') return 'must be an https URL';
  const origins = new Set([...hosts.map(host => `https://${host}`), ...redirectUris.map(originOf)]);
  return origins.has(url.origin) ? null : "must have an origin of the brand's or of the app's registered addresses";
}
