import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals and opens columns marked E (encrypted at rest). */
export interface Sealer {
  /** `key id length | key id | nonce | tag | ciphertext`, AES-256-GCM; `context` (table.column:row id) is authenticated, not stored. */
  seal(plain: string, context: string): Buffer;
  /** @throws Error when the key id is unknown, the bytes were changed, or the context differs. */
  open(sealed: Buffer, context: string): string;
}

/** Key ids with keys; as objects, because importing a key's bytes takes as long as sealing a short text. */
function parseKeys(keys: string): Map<string, KeyObject> {
  const entries = keys.split(',').map(pair => {
    const [id, encoded] = [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1)];
    const key = Buffer.from(encoded, 'base64');
    if (!id || key.length !== 32) throw new Error('ENCRYPTION_KEYS must be id:base64 of 32 bytes, comma separated');
    return [id, createSecretKey(key)] as const;
  });
  return new Map(entries);
}

/** A sealer over `id:base64,…`: the first key seals, all open, so keys rotate without a pause. */
export function createSealer(keys: string): Sealer {
  const ring = parseKeys(keys);
  const [firstId, firstKey] = [...ring][0]!;
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', firstKey, nonce).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const id = Buffer.from(firstId);
      return Buffer.concat([Buffer.from([id.length]), id, nonce, cipher.getAuthTag(), text]);
    },
    open(sealed, context) {
      const idEnd = 1 + sealed[0]!;
      const key = ring.get(sealed.subarray(1, idEnd).toString());
      if (!key) throw new Error('sealed with an unknown key');
      const [nonce, rest] = [sealed.subarray(idEnd, idEnd + NONCE_BYTES), sealed.subarray(idEnd + NONCE_BYTES)];
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context)).setAuthTag(rest.subarray(0, TAG_BYTES));
      return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8');
    },
  };
}

/** Comparison of secrets in constant time, also for different lengths. */
export const sameSecret = (a: string | Buffer, b: string | Buffer): boolean => timingSafeEqual(sha256(a), sha256(b));

export const sha256 = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest();
