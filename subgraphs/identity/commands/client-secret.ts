import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { after } from '../../../runtime/time/durations.js';
import { OAuthClientSecret, RotatedOAuthClientSecret } from '../entities/client-secret.js';
import type { RotateOAuthClientSecretInput } from '../inputs/client.js';
import { lockedClient } from '../queries/client.js';
import { hasSecret, livingSecrets, retire, type Retirement } from '../rules/client-secrets.js';
import { LONGEST_TOKEN_MS } from '../rules/lifetimes.js';
import { type NewRevocation, publishRevocations } from './token-family.js';

/** A new value of 256 bits, and the row that knows its hash. */
export function makeSecret(ctx: Context, clientId: string): { secret: OAuthClientSecret; value: string } {
  const value = randomBytes(32).toString('base64url');
  const row = { clientId, hash: sha256(value), hint: value.slice(-4), createdAt: ctx.now() };
  const secret = ctx.em.create(OAuthClientSecret, row, { partial: true });
  ctx.em.persist(secret);
  return { secret, value };
}

/** Tokens that a secret obtained die with it, announced as soon as its end is known. */
const secretRevocation = (ctx: Context, secret: OAuthClientSecret, at: Date): NewRevocation => ({
  kind: 'secret',
  value: secret.id,
  ...(at > ctx.now() && { effectiveAt: at }),
  expiresAt: after(at, LONGEST_TOKEN_MS),
});

/** Secrets end, now or later, and with them the tokens that they obtained. */
export async function endSecrets(ctx: Context, ends: Retirement<OAuthClientSecret>['ends']): Promise<void> {
  for (const { secret, at } of ends) secret.expiresAt = at;
  await ctx.em.flush();
  const revocations = ends.map(({ secret, at }) => secretRevocation(ctx, secret, at));
  await publishRevocations(ctx, revocations);
}

/** The answer to a rotation; `value`: null in the answer to a repeated request. */
export const rotationOf = (
  { id, clientId }: OAuthClientSecret,
  value: string | null,
  previous: OAuthClientSecret[],
): RotatedOAuthClientSecret => Object.assign(new RotatedOAuthClientSecret(), { id, clientId, clientSecret: value, secretId: id, previous });

/** Gives a client a new secret; the tokens of the old one die with it. @throws Problem not_found, conflict. */
export async function rotateSecret(ctx: Context, input: RotateOAuthClientSecretInput): Promise<RotatedOAuthClientSecret> {
  const client = await lockedClient(ctx, input.clientId);
  if (!hasSecret(client)) fail('conflict', 'This client has no secret');
  const { ends, refused } = retire(await ctx.em.find(OAuthClientSecret, { clientId: client.id }), input, ctx.now());
  if (refused) fail('conflict', 'Two secrets are alive already; force ends the oldest');
  const { secret, value } = makeSecret(ctx, client.id);
  ctx.audit('oauth_client.secret_rotated', client.id, { secret_id: secret.id, overlap_seconds: input.overlapSeconds });
  await endSecrets(ctx, ends);
  const ended = ends.map(one => one.secret);
  return rotationOf(secret, value, livingSecrets(ended, ctx.now()));
}
