/** What is wrong with a web origin, null for nothing. Plain HTTP on `localhost` is for development only. Source: identity 2, OAuthClient. */
export function originFault(text: string, production: boolean): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be a web origin';
  if (text.includes('*')) return 'must have no wildcard';
  if (text !== url.origin) return `must be an origin as browsers send it: ${url.origin}`;
  if (url.protocol === 'http:' && (url.hostname !== 'localhost' || production)) return 'must be https';
  return null;
}
