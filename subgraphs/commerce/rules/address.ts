interface Allowed {
  /** Verified host names of the brand. */
  hosts: readonly string[];
  /** Host of the media, where images may be, too. */
  mediaHost?: string | null;
  production: boolean;
}

const MEDIA_PATH = /^\/content\/v1\/files\/[A-Za-z0-9/_.-]+$/;

/**
 * What is wrong with an address of the shop; null for nothing: `https` on one of the brand's domains or, of an image, on the media host;
 * outside production `http://localhost`, too. Source: commerce 7.25.
 */
export function shopUrlFault(text: string, { hosts, mediaHost, production }: Allowed): string | null {
  const url = URL.parse(text);
  if (!url || text.length > 2048) return 'is not an absolute URL';
  if (url.username || url.password) return 'must not hold a user name or password';
  if (url.protocol === 'http:' && url.hostname === 'localhost') return production ? 'must be an https URL' : null;
  if (url.protocol !== 'https:' || url.port !== '') return 'must be an https URL';
  const known = mediaHost ? [...hosts, mediaHost] : hosts;
  return known.includes(url.hostname) ? null : "must be on one of the brand's domains";
}

/** An image may be a file of content by its path. */
export const imageUrlFault = (text: string, allowed: Allowed): string | null =>
  MEDIA_PATH.test(text) ? null : shopUrlFault(text, allowed);
