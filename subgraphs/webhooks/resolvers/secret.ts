import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { addSecret, destroySecret, placeSecret, settleSecrets, type ListedSecret } from '../commands/secrets.js';
import { MANAGERS, WebhookSubscription, WebhookSubscriptionWithSecret } from '../entities/subscription.js';
import { ExpireWebhookSecretInput, RotateWebhookSecretInput } from '../inputs/subscription.js';
import { changeSubscription } from './subscription.js';
import { withSecret } from '../queries/subscription-answer.js';

const HOUR_MS = 3_600_000;

const placed = (secrets: readonly ListedSecret[], status: ListedSecret['status']): ListedSecret | undefined =>
  secrets.find(secret => secret.status === status);

/** The old secret makes room: it signs a second header until the overlap ends, or is gone at once without one. */
async function retire(ctx: Context, secrets: readonly ListedSecret[], overlapMs: number): Promise<void> {
  const [current, previous] = [placed(secrets, 'current')!, placed(secrets, 'previous')];
  if (previous) await destroySecret(ctx, previous.id);
  if (overlapMs === 0) await destroySecret(ctx, current.id);
  else await placeSecret(ctx, current.id, { status: 'previous', activatesAt: null, expiresAt: ctx.now().getTime() + overlapMs });
}

/** Source: section 4, rotate-secret. */
@Resolver(() => WebhookSubscription)
export class SecretResolver {
  @Access(MANAGERS)
  @Mutation(() => WebhookSubscriptionWithSecret, {
    description: 'Makes a new signing secret, shown in this answer only. During the overlap a second header bears the other signature.',
  })
  async rotateWebhookSecret(
    @Arg('input', () => RotateWebhookSecretInput) input: RotateWebhookSecretInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscriptionWithSecret> {
    const subscription = await changeSubscription(ctx, input.id);
    const secrets = await settleSecrets(ctx, input.id);
    if (placed(secrets, 'next')) fail('conflict', 'A next secret waits already; expire it first', { reason: 'next_waits' });
    const overlapMs = input.overlapHours * HOUR_MS;
    const later = input.activation === 'after_overlap' && overlapMs > 0;
    if (!later) await retire(ctx, secrets, overlapMs);
    const { secret, value } = await addSecret(
      ctx,
      input.id,
      later ? { status: 'next', activatesAt: ctx.now().getTime() + overlapMs } : { status: 'current', activatesAt: null },
    );
    ctx.audit('webhook_secret.rotated', secret.id, {
      subscription_id: input.id,
      activation: input.activation,
      overlap_hours: input.overlapHours,
    });
    await ctx.em.flush(); // the answer bears the new version
    return withSecret(ctx, subscription, value);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Ends a previous secret, or lets a next one take over now.' })
  async expireWebhookSecret(
    @Arg('input', () => ExpireWebhookSecretInput) { id, secretId }: ExpireWebhookSecretInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    const subscription = await changeSubscription(ctx, id);
    const secrets = await settleSecrets(ctx, id);
    const secret = secrets.find(one => one.id === secretId) ?? fail('not_found', 'Not found');
    if (secret.status === 'current') fail('conflict', 'The current secret cannot be expired; rotate it', { reason: 'current' });
    if (secret.status === 'previous') await destroySecret(ctx, secretId);
    else {
      for (const other of secrets.filter(one => one.id !== secretId)) await destroySecret(ctx, other.id);
      await placeSecret(ctx, secretId, { status: 'current', activatesAt: null, expiresAt: null });
    }
    ctx.audit('webhook_secret.expired', secretId, { subscription_id: id, status: secret.status });
    return subscription;
  }
}
