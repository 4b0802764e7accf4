import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';

/** Public keys of a client that signs, RFC 7517. */
export interface KeySet {
  keys: readonly ClientKey[];
}

export type ClientKey = JsonWebKey & { kid?: string; use?: string };

const MAX_KEYS = 10;
const MIN_RSA_BITS = 2048;

/** Algorithms that a client may sign an assertion with. */
export const CLIENT_ALGORITHMS = ['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA'] as const;

/** An assertion that may be kept for later is not a fresh one. Seconds. */
export const MAX_ASSERTION_SECONDS = 600;

/** Members of a thumbprint in their order, RFC 7638. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
};
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

function keyFault(key: unknown): string | null {
  if (typeof key !== 'object' || key === null) return 'must be a JWK';
  const jwk = key as Record<string, unknown>;
  if (PRIVATE.some(name => name in jwk)) return 'must hold no private key';
  if (typeof jwk.kty !== 'string' || !MEMBERS[jwk.kty]) return 'must be of type EC, OKP or RSA';
  if (jwk.use !== undefined && jwk.use !== 'sig') return 'must be for signatures';
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return 'must have a kid of text';
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const bits = asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < MIN_RSA_BITS ? `must have ${MIN_RSA_BITS} bits` : null;
  } catch {
    return 'is not a public key';
  }
}

/** What is wrong with a key set, by path below it; null for nothing. */
export function keySetFault(set: unknown): { path: string; message: string } | null {
  const keys = (set as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    return { path: '/keys', message: `must hold 1 to ${MAX_KEYS} keys` };
  for (const [index, key] of keys.entries()) {
    const message = keyFault(key);
    if (message) return { path: `/keys/${index}`, message };
  }
  const kids = keys.map(key => (key as ClientKey).kid);
  if (kids.length > 1 && (kids.includes(undefined) || new Set(kids).size < kids.length))
    return { path: '/keys', message: 'must each have a kid of their own' };
  return null;
}

/** Id of a client's key, a UUID made of the client and the key's thumbprint: claim `csi` of the tokens that it obtains. */
export function keyIdOf(clientId: string, key: ClientKey): string {
  const members = Object.fromEntries((MEMBERS[key.kty ?? ''] ?? []).map(name => [name, (key as Record<string, unknown>)[name]]));
  const hash = createHash('sha256')
    .update(`${clientId}\n${JSON.stringify(members)}`)
    .digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80; // RFC 9562, version 8: made by its own rule
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.subarray(0, 16).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Ids of the keys of a set. */
export const keyIds = (clientId: string, set: unknown): string[] =>
  ((set as Partial<KeySet> | null)?.keys ?? []).map(key => keyIdOf(clientId, key));
