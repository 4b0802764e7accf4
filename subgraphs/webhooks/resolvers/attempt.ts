import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { readResponseBody } from '../commands/audited-reads.js';
import { testSubscription } from '../commands/test-delivery.js';
import { WebhookAttempt, WebhookAttemptConnection } from '../entities/attempt.js';
import { WebhookDelivery } from '../entities/delivery.js';
import { MANAGERS, READERS } from '../entities/subscription.js';
import { WebhookAttemptsArgs } from '../inputs/delivery.js';
import { TestWebhookSubscriptionInput } from '../inputs/subscription.js';
import { listAttempts } from '../queries/attempts.js';
import { deliveryOf } from '../queries/deliveries.js';

@Resolver(() => WebhookAttempt)
export class AttemptResolver {
  @Access(READERS)
  @Query(() => WebhookAttemptConnection, {
    description: 'Every request of a time of at most 7 days, by default the last 24 hours; newest first. Tests are among them.',
  })
  webhookAttempts(@Args(() => WebhookAttemptsArgs) args: WebhookAttemptsArgs, @Ctx() ctx: Context): Promise<Connection<WebhookAttempt>> {
    return listAttempts(ctx, args);
  }

  @Access(MANAGERS)
  @OwnTransactions('the endpoint gets another example, which counts for nothing')
  @Mutation(() => WebhookAttempt, { description: "Sends a type's example to the endpoint once and answers what happened." })
  testWebhookSubscription(
    @Arg('input', () => TestWebhookSubscriptionInput) input: TestWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookAttempt> {
    return testSubscription(ctx, input);
  }

  @FieldResolver(() => WebhookDelivery, { nullable: true })
  delivery(@Root() { deliveryId }: WebhookAttempt, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    return deliveryId === null ? Promise.resolve(null) : deliveryOf(ctx, deliveryId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The first 4 KiB of the answer, masked, under the same rule as the payload.',
  })
  async responseBody(@Root() attempt: WebhookAttempt, @Ctx() ctx: Context): Promise<string | null> {
    return readResponseBody(ctx, attempt, await this.delivery(attempt, ctx));
  }
}
