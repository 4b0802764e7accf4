import { createHmac } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { sameSecret } from '../../../../runtime/data/crypto.js';

/** A page that names what is wrong instead of the one that was asked for. `retryAfter`: s. */
export class PageError extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** A time to wait as people say it. */
export function waitText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes > 90) return `${Math.ceil(minutes / 60)} hours`;
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}

const LIMIT_BYTES = 32 * 1024;
const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/** The fields of a posted form. @throws PageError 415 or 413. */
export async function readForm(ctx: KoaContextWithOIDC): Promise<URLSearchParams> {
  if (!FORM.test(ctx.get('content-type'))) throw new PageError(415, 'This is not a form', 'Only forms are accepted here.');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of ctx.req) {
    size += (chunk as Buffer).length;
    if (size > LIMIT_BYTES) throw new PageError(413, 'This is too much', 'The form is too large.');
    chunks.push(chunk as Buffer);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

/** Value of the field `csrf` for an interaction or a browser session. */
export const csrfOf = (secret: string, about: string): string => createHmac('sha256', secret).update(`csrf:${about}`).digest('base64url');

/**
 * Whether a form comes from our page. `Origin: null` is what browsers send with our own referrer policy, so it proves nothing; the token
 * must fit in any case. @throws PageError 403.
 */
export function checkCsrf(ctx: KoaContextWithOIDC, form: URLSearchParams, secret: string, about: string, origin: string): void {
  const sent = ctx.get('origin');
  const foreign = sent !== '' && sent !== 'null' && sent !== origin;
  if (foreign || !sameSecret(form.get('csrf') ?? '', csrfOf(secret, about)))
    throw new PageError(403, 'This form is not ours', 'Go back to the app and begin again.');
}
