const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;
const WEB = /^https?:/i;

/** A private-use scheme or a loopback IP: the app is native, and its identity can be copied. Source: identity 4.1, RFC 8252. */
export const isNativeRedirect = (uri: string): boolean => !WEB.test(uri) || LOOPBACK.test(uri);

/** What `form-action` must allow besides ourselves, because a form's answer redirects there: an origin, or a private-use scheme. */
export const redirectSource = (uri: string): string => (WEB.test(uri) ? new URL(uri).origin : new URL(uri).protocol);

/** Where an app begins, as far as it has said so: its homepage, else the site that it is sent back to; null for a native app. */
export function homeOf({ homepageUrl, redirectUris }: { homepageUrl: string | null; redirectUris: readonly string[] }): string | null {
  const site = redirectUris.find(uri => WEB.test(uri) && !LOOPBACK.test(uri));
  return homepageUrl ?? (site === undefined ? null : `${new URL(site).origin}/`);
}

/** Whether a web address leads to the origin of one of these redirects; no name and password in it. Source: identity 7, rule 13. */
export function isRegisteredOrigin(uri: string, registered: readonly string[]): boolean {
  const url = WEB.test(uri) ? URL.parse(uri) : null;
  if (!url || url.username || url.password) return false;
  return registered.some(one => WEB.test(one) && URL.parse(one)?.origin === url.origin);
}

/** What is wrong with a redirect address, null for nothing. `localhost` is for development only. Source: identity 2, OAuthClient. */
export function redirectFault(uri: string, production: boolean): string | null {
  const url = URL.parse(uri);
  if (!url || /\s/.test(uri)) return 'must be an absolute URI';
  if (uri.includes('#')) return 'must have no fragment';
  if (uri.includes('*')) return 'must have no wildcard';
  if (url.username || url.password) return 'must have no credentials';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return null;
  if (scheme === 'http') {
    if (['127.0.0.1', '[::1]'].includes(url.hostname) || (url.hostname === 'localhost' && !production)) return null;
    return 'must be https, or http on a loopback address';
  }
  return scheme.includes('.') ? null : 'must be https, http on a loopback address, or a private-use scheme with a dot';
}

/** Whether a person may be sent there: to an origin, or a private-use scheme, that the app has registered. */
export function isOwnAddress(url: string, redirectUris: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const targetOf = ({ protocol, origin, username, password }: URL): string | null =>
    username || password ? null : origin === 'null' ? protocol : origin;
  const wanted = targetOf(new URL(url));
  return wanted !== null && redirectUris.some(uri => targetOf(new URL(uri)) === wanted);
}
