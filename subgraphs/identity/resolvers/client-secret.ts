import { Arg, Ctx, Field, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { OAuthClientKind, OAuthClientSecret, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';
import { RotateOAuthClientSecretInput } from '../inputs/client.js';
import { livingSecrets, retire } from '../rules/client-registration.js';
import { LONGEST_TOKEN_MS } from '../commands/client-effects.js';
import { lockedClient, makeSecret } from './client-administration.js';
import { publishRevocations, type NewRevocation } from '../commands/token-family.js';

/** The answer to a rotation. Kept by `id` only, so that a repeated request tells everything but the value. */
@Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
@ObjectType({ description: 'A new secret; its value is in this answer only.' })
export class RotatedOAuthClientSecret {
  id: string;

  @Field(() => ID)
  clientId: string;

  @Field(() => String, { nullable: true, description: 'Null in the answer to a repeated request: it is kept nowhere.' })
  clientSecret: string | null;

  @Field(() => ID)
  secretId: string;

  @Field(() => [OAuthClientSecret], { description: 'The secrets before it that still work.' })
  previous: OAuthClientSecret[];
}

/** Tokens that a secret obtained die with it, announced as soon as its end is known. */
const secretRevocation = (ctx: Context, secret: OAuthClientSecret, at: Date): NewRevocation => ({
  kind: 'secret',
  value: secret.id,
  ...(at > ctx.now() && { effectiveAt: at }),
  expiresAt: new Date(at.getTime() + LONGEST_TOKEN_MS),
});

const answer = (secret: OAuthClientSecret, value: string | null, previous: OAuthClientSecret[]): RotatedOAuthClientSecret =>
  Object.assign(new RotatedOAuthClientSecret(), {
    id: secret.id,
    clientId: secret.clientId,
    clientSecret: value,
    secretId: secret.id,
    previous,
  });

/** A rotation as it is told again. */
export async function loadRotations(ctx: Context, references: readonly { id: string }[]): Promise<(RotatedOAuthClientSecret | null)[]> {
  const ids = references.map(one => one.id);
  const secrets = inOrder(ids, await ctx.em.find(OAuthClientSecret, { id: { $in: ids } }), row => row.id);
  return Promise.all(
    secrets.map(async secret => {
      if (!secret) return null;
      const others = await ctx.em.find(OAuthClientSecret, { clientId: secret.clientId, id: { $lt: secret.id } });
      return answer(secret, null, livingSecrets(others, ctx.now()));
    }),
  );
}

@Resolver()
export class ClientSecretRotationResolver {
  @Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
  @Mutation(() => RotatedOAuthClientSecret, { description: 'Gives a client a new secret; the tokens of the old one die with it.' })
  async rotateOAuthClientSecret(
    @Arg('input', () => RotateOAuthClientSecretInput) input: RotateOAuthClientSecretInput,
    @Ctx() ctx: Context,
  ): Promise<RotatedOAuthClientSecret> {
    const client = await lockedClient(ctx, input.clientId);
    const signs = client.tokenEndpointAuthMethod === OAuthClientTokenEndpointAuthMethod.PRIVATE_KEY_JWT;
    if (client.kind === OAuthClientKind.PUBLIC || signs) fail('conflict', 'This client has no secret');
    const { ends, refused } = retire(await ctx.em.find(OAuthClientSecret, { clientId: client.id }), input, ctx.now());
    if (refused) fail('conflict', 'Two secrets are alive already; force ends the oldest');
    for (const { secret, at } of ends) secret.expiresAt = at;
    const { secret, value } = makeSecret(ctx, client.id);
    ctx.audit('oauth_client.secret_rotated', client.id, { secret_id: secret.id, overlap_seconds: input.overlapSeconds });
    await ctx.em.flush();
    await publishRevocations(
      ctx,
      ends.map(one => secretRevocation(ctx, one.secret, one.at)),
    );
    return answer(
      secret,
      value,
      livingSecrets(
        ends.map(one => one.secret),
        ctx.now(),
      ),
    );
  }
}
