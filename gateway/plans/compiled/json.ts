/** What `JSON.stringify` would escape: controls, quote, backslash, and surrogates (lone ones only, but pairs are rare enough to ask it). */
// eslint-disable-next-line no-control-regex
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** Below this length a loop beats the regular expression. */
const SHORT = 40;

/** A string as JSON text; two to four times as fast as `JSON.stringify` for what is usual in answers. */
export function quoted(text: string): string {
  const { length } = text;
  if (length >= SHORT) return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code <= 0xdfff)) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Any value as JSON text; what JSON does not know (undefined, a function) is null. */
export const jsonOf = (value: unknown): string => (typeof value === 'string' ? quoted(value) : (JSON.stringify(value) ?? 'null'));
