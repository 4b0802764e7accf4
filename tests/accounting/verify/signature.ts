import { createPublicKey, verify } from 'node:crypto';
import { jcs } from './canonical.js';

export interface Head {
  height: number;
  hash: string;
  sealed_at: string;
  key_id: string;
  signature: string;
}

export interface PublicKey {
  key_id: string;
  public_key: string;
}

/** Ed25519 over the RFC 8785 form of height, hash and sealed_at. */
export function isSigned(head: Head, keys: readonly PublicKey[]): boolean {
  const key = keys.find(one => one.key_id === head.key_id);
  if (!key) return false;
  const x = Buffer.from(key.public_key, 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = jcs({ height: head.height, hash: head.hash, sealed_at: head.sealed_at });
  return verify(null, Buffer.from(signed), publicKey, Buffer.from(head.signature, 'base64'));
}
