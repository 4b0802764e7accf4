import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { cancelJob, recoverSubscription, replayDeadLetters } from '../commands/jobs.js';
import { WebhookDeadLetterReplay, WebhookJob } from '../entities/job.js';
import { MANAGERS, READERS, WebhookSubscription } from '../entities/subscription.js';
import { CancelWebhookJobInput, RecoverWebhookSubscriptionInput, ReplayWebhookDeadLettersInput } from '../inputs/job.js';
import { findManaged } from '../queries/managed.js';
import { subscriptionOf } from '../queries/subscriptions.js';

/** Source: section 4, recover and dead letters. */
@Resolver(() => WebhookJob)
export class JobResolver {
  @Access(READERS)
  @Query(() => WebhookJob, { nullable: true })
  webhookJob(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookJob | null> {
    return findManaged(ctx, WebhookJob, { id });
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDeadLetterReplay, {
    description: 'Delivers dead letters again, each at its place in the order of its user. A dry run only counts them.',
  })
  replayWebhookDeadLetters(
    @Arg('input', () => ReplayWebhookDeadLettersInput) input: ReplayWebhookDeadLettersInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDeadLetterReplay> {
    return replayDeadLetters(ctx, input);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookJob, { description: 'Delivers the events of a time that the subscription has no delivery of, in order.' })
  recoverWebhookSubscription(
    @Arg('input', () => RecoverWebhookSubscriptionInput) input: RecoverWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookJob> {
    return recoverSubscription(ctx, input);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookJob, { description: 'Stops a job; what it has made stays.' })
  cancelWebhookJob(@Arg('input', () => CancelWebhookJobInput) { id }: CancelWebhookJobInput, @Ctx() ctx: Context): Promise<WebhookJob> {
    return cancelJob(ctx, id);
  }

  @FieldResolver(() => WebhookSubscription, { nullable: true, description: 'Null when it was deleted.' })
  subscription(@Root() { subscriptionId }: WebhookJob, @Ctx() ctx: Context): Promise<WebhookSubscription | null> {
    return subscriptionOf(ctx, subscriptionId);
  }
}
