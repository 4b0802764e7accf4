/** Keys whose values never belong into an error text or a log line. Source: jobs 7.12. */
const KEYS =
  'password|passwd|passphrase|secret|client_secret|token|access_token|refresh_token|authorization|cookie|api_?key|private_?key|signature|email|phone|address|street|name|first_name|last_name|dob|birth_?date|ssn|iban|card|value|result';

const RULES: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(["']?\\b(?:${KEYS})\\b["']?\\s*[:=]\\s*)(?:"[^"]*"|'[^']*'|[^\\s,;}\\]]+)`, 'gi'), '$1[redacted]'],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  [/\b(?:svc|usr|whsec|sk|pk)_[\w.-]{8,}/g, '[redacted]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/[\w.+-]+@[\w-]+\.[\w.-]+/g, '[redacted]'],
  [/\+\d[\d ()-]{6,}\d/g, '[redacted]'],
  [/\b[a-z]+:\/\/[^\s/:@]+:[^\s/@]+@/gi, '[redacted]@'],
];

/** A text without the values of secret and personal keys, at most `length` characters. */
export function redacted(text: string, length: number): string {
  const clean = RULES.reduce((one, [pattern, by]) => one.replace(pattern, by), text);
  return clean.length > length ? `${clean.slice(0, length - 1)}…` : clean;
}

/** Code of a failure: what it calls itself, else its class. */
export function errorCodeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  const name = typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) ? code : error instanceof Error ? error.name : 'error';
  return name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
}
