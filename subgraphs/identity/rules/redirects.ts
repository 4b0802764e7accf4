const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;
const WEB = /^https?:/i;

/** A private-use scheme or a loopback IP: the app is native, and its identity can be copied. Source: identity 4.1, RFC 8252. */
export const isNativeRedirect = (uri: string): boolean => !WEB.test(uri) || LOOPBACK.test(uri);

/** What `form-action` must allow besides ourselves, because a form's answer redirects there: an origin, or a private-use scheme. */
export const redirectSource = (uri: string): string => (WEB.test(uri) ? new URL(uri).origin : new URL(uri).protocol);

/** Whether a web address leads to the origin of one of these redirects; no name and password in it. Source: identity 7, rule 13. */
export function isRegisteredOrigin(uri: string, registered: readonly string[]): boolean {
  const url = WEB.test(uri) ? URL.parse(uri) : null;
  if (!url || url.username || url.password) return false;
  return registered.some(one => WEB.test(one) && URL.parse(one)?.origin === url.origin);
}
