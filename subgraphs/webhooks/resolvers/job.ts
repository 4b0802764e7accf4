import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { move } from '../../../runtime/request/states.js';
import { countDead } from '../workers/job-replay.js';
import { jobSignalOf } from '../workers/jobs.js';
import { WebhookDeadLetterReplay, WebhookJob, type JobFilter } from '../entities/job.js';
import { MANAGERS, READERS, WebhookSubscription } from '../entities/subscription.js';
import { CancelWebhookJobInput, RecoverWebhookSubscriptionInput, ReplayWebhookDeadLettersInput } from '../inputs/job.js';
import { JOB_STATES } from '../rules/states.js';
import { spanViolations } from '../rules/span.js';
import { manages } from '../queries/managed.js';
import { findSubscription } from './subscription.js';

/** Events of one bulk replay at most. Source: section 4. */
const MAX_REPLAYED = 10_000;

const ONE_JOB = 'select pg_advisory_xact_lock(hashtextextended($1, 37))';

async function visibleJob(ctx: Context, id: string): Promise<WebhookJob | null> {
  const found = isUuid(id) ? await ctx.em.findOne(WebhookJob, { id }) : null;
  return found && (await manages(ctx, found.clientId)) ? found : null;
}

/** Jobs of one subscription run one after another. @throws Problem conflict. */
async function checkNoJob(ctx: Context, subscriptionId: string): Promise<void> {
  await ctx.sql(ONE_JOB, [subscriptionId]);
  const open = await ctx.em.count(WebhookJob, { subscriptionId, status: { $in: ['pending', 'running'] } });
  if (open > 0) fail('conflict', 'A job of the subscription runs', { reason: 'job_runs' });
}

async function begin(
  ctx: Context,
  { id, clientId }: WebhookSubscription,
  given: Pick<WebhookJob, 'kind' | 'filter' | 'matched'>,
): Promise<WebhookJob> {
  const job = Object.assign(new WebhookJob(), given, {
    subscriptionId: id,
    clientId,
    requestedBy: actorOf(ctx.caller),
    createdAt: ctx.now(),
  });
  job.claimedUntil = new Date(0); // nobody's yet
  ctx.em.persist(job);
  ctx.audit(`webhook_job.${given.kind}`, job.id, { subscription_id: id, matched: given.matched });
  ctx.afterCommit(() => jobSignalOf(ctx.host).notify());
  await ctx.em.flush();
  return job;
}

const filterOf = ({ eventTypes, userId, reason, from, to }: ReplayWebhookDeadLettersInput): JobFilter => ({
  eventTypes: eventTypes ?? [],
  userId: userId ?? null,
  reason: reason ?? null,
  from: from?.toISOString() ?? null,
  to: to?.toISOString() ?? null,
});

const counted = (matched: number): WebhookDeadLetterReplay => ({
  matched,
  id: null,
  kind: null,
  subscriptionId: null,
  status: null,
  created: null,
  skipped: null,
  requestedBy: null,
  createdAt: null,
});

const shown = ({
  id,
  kind,
  subscriptionId,
  status,
  matched,
  created,
  skipped,
  requestedBy,
  createdAt,
}: WebhookJob): WebhookDeadLetterReplay => ({
  id,
  kind,
  subscriptionId,
  status,
  matched,
  created,
  skipped,
  requestedBy,
  createdAt,
});

/** Source: section 4, recover and dead letters. */
@Resolver(() => WebhookJob)
export class JobResolver {
  @Access(READERS)
  @Query(() => WebhookJob, { nullable: true })
  webhookJob(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookJob | null> {
    return visibleJob(ctx, id);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDeadLetterReplay, {
    description: 'Delivers dead letters again, each at its place in the order of its user. A dry run only counts them.',
  })
  async replayWebhookDeadLetters(
    @Arg('input', () => ReplayWebhookDeadLettersInput) input: ReplayWebhookDeadLettersInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDeadLetterReplay> {
    if (input.userId != null && !isUuid(input.userId)) invalid('/input/userId', 'is not an id');
    const subscription = await findSubscription(ctx, input.subscriptionId);
    const filter = filterOf(input);
    const matched = await countDead(ctx, subscription.id, filter);
    if (input.dryRun) {
      ctx.status(200);
      return counted(matched);
    }
    if (subscription.status === 'disabled') fail('conflict', 'The subscription is disabled', { reason: 'subscription_disabled' });
    if (matched > MAX_REPLAYED)
      fail('invalid_request', `${matched} dead letters match; narrow the filter to at most ${MAX_REPLAYED}`, { reason: 'too_many' });
    await checkNoJob(ctx, subscription.id);
    return shown(await begin(ctx, subscription, { kind: 'replay_dead_letters', filter, matched }));
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookJob, { description: 'Delivers the events of a time that the subscription has no delivery of, in order.' })
  async recoverWebhookSubscription(
    @Arg('input', () => RecoverWebhookSubscriptionInput) { id, since, until }: RecoverWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookJob> {
    const to = until ?? ctx.now();
    const errors = spanViolations(since, to, ctx.now());
    if (errors.length) fail('invalid_request', 'The time is invalid', { errors });
    const subscription = await findSubscription(ctx, id);
    if (subscription.status !== 'active')
      fail('conflict', `The subscription is ${subscription.status}`, { reason: `subscription_${subscription.status}` });
    await checkNoJob(ctx, id);
    return begin(ctx, subscription, { kind: 'recover', filter: { from: since.toISOString(), to: to.toISOString() }, matched: 0 });
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookJob, { description: 'Stops a job; what it has made stays.' })
  async cancelWebhookJob(
    @Arg('input', () => CancelWebhookJobInput) { id }: CancelWebhookJobInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookJob> {
    if (!(await visibleJob(ctx, id))) fail('not_found', 'Not found');
    await ctx.sql('select 1 from webhooks.webhook_job where id = $1 for update', [id]);
    const job = await ctx.em.findOneOrFail(WebhookJob, { id }, { refresh: true });
    job.status = move(JOB_STATES, 'webhook job', job.status, 'cancel');
    job.finishedAt = ctx.now();
    ctx.audit('webhook_job.cancelled', id, { created: job.created });
    return job;
  }

  @FieldResolver(() => WebhookSubscription, { nullable: true, description: 'Null when it was deleted.' })
  async subscription(@Root() { subscriptionId }: WebhookJob, @Ctx() ctx: Context): Promise<WebhookSubscription | null> {
    return ctx.em.findOne(WebhookSubscription, { id: subscriptionId, deletedAt: null });
  }
}
