import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';
import { sealed } from '../entities/sealed.js';

const TOKEN_BYTES = 32; // 256 bits, payments 7.14

/** A new token of a hosted page, for the row of this id: found by its hash, kept sealed for the row's address. */
export function hostedToken(ctx: Context, id: string): { tokenHash: Buffer; tokenSealed: Buffer } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { tokenHash: sha256(token), tokenSealed: sealed(ctx, token, 'hosted_session', id) };
}
