import { isSlug } from '../events/slugs.js';

/** Host without port and root dot, lower case. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');

/**
 * The per-service address form: `clinical.<domain>/v1/x` and `clinical.localhost/v1/x` are `/clinical/v1/x`. Anything else is unchanged.
 * Only `Host` is asked; `X-Forwarded-Host` is set by the caller and is not trusted. Source: conventions 1.
 * @param host the `Host` header, with or without port
 * @param url the request target in origin form (`/path?query`)
 * @param domain for example `platform.example`, with or without port
 */
export function rewriteUrl(host: string | undefined, url: string, domain: string): string {
  if (host === undefined || !url.startsWith('/')) return url;
  const name = nameOf(host);
  const parent = [nameOf(domain), 'localhost'].find(candidate => candidate !== '' && name.endsWith(`.${candidate}`));
  if (parent === undefined) return url;
  const slug = name.slice(0, -parent.length - 1);
  return isSlug(slug) ? `/${slug}${url}` : url;
}
