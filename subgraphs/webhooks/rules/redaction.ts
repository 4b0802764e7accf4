/** What is kept of an answer: bytes of its headers and of its body. Source: section 2, WebhookAttempt. */
export const KEPT_BYTES = 4096;

const EMAIL = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}/g;
/** A phone number, or any other run of seven digits and more, separators between them included. */
const DIGITS = /\+?\d(?:[ ().-]{0,2}\d){6,}/g;

/** The first 4 KiB of a receiver's answer as text, without e-mail addresses, phone numbers and long runs of digits. */
export function redactBody(body: Buffer): string {
  const text = body.subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\u0000', '');
  return text.replace(EMAIL, '***').replace(DIGITS, '***');
}

const NEVER_KEPT = ['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate'];

/** Headers of an answer, at most 4 KiB in all, without those that may hold a credential. */
export function redactResponseHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
    if (bytes > KEPT_BYTES) break;
    if (!NEVER_KEPT.includes(name.toLowerCase())) kept[name] = text.replaceAll('\u0000', '');
  }
  return kept;
}

/** Headers of a request as they are kept: signatures and custom values replaced. */
export function redactRequestHeaders(
  headers: Readonly<Record<string, string>>,
  custom: readonly { name: string }[],
): Record<string, string> {
  const hidden = new Set(custom.map(({ name }) => name.toLowerCase()));
  const hide = (name: string): boolean => /signature/i.test(name) || hidden.has(name.toLowerCase());
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, hide(name) ? '***' : value]));
}
