const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;
const WEB = /^https?:/i;

/** A private-use scheme or a loopback IP: the app is native, and its identity can be copied. Source: identity 4.1, RFC 8252. */
export const isNativeRedirect = (uri: string): boolean => !WEB.test(uri) || LOOPBACK.test(uri);

/** What `form-action` must allow besides ourselves, because a form's answer redirects there: an origin, or a private-use scheme. */
export const redirectSource = (uri: string): string => (WEB.test(uri) ? new URL(uri).origin : new URL(uri).protocol);
