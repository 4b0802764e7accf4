import { isUuid } from '../../../runtime/data/ids.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { WebhookJob, type JobFilter, type WebhookDeadLetterReplay } from '../entities/job.js';
import type { WebhookSubscription } from '../entities/subscription.js';
import type { RecoverWebhookSubscriptionInput, ReplayWebhookDeadLettersInput } from '../inputs/job.js';
import { countDead } from '../queries/dead-letters.js';
import { requireManaged } from '../queries/managed.js';
import { requireSubscription } from '../queries/subscriptions.js';
import { JOB_STATES, spanViolations } from '../rules/jobs.js';
import { Signal } from './signal.js';

const signals = new WeakMap<ServiceHost, Signal>();

/** Raised when there is a new job; the worker waits for it. */
export function jobSignalOf(host: ServiceHost): Signal {
  let signal = signals.get(host);
  if (!signal) signals.set(host, (signal = new Signal()));
  return signal;
}

/** Events of one bulk replay at most. Source: section 4. */
const MAX_REPLAYED = 10_000;

const ONE_JOB = 'select pg_advisory_xact_lock(hashtextextended($1, 37))';

/** Jobs of one subscription run one after another. @throws Problem conflict. */
async function requireNoJob(ctx: Context, subscriptionId: string): Promise<void> {
  await ctx.sql(ONE_JOB, [subscriptionId]);
  const open = await ctx.em.count(WebhookJob, { subscriptionId, status: { $in: ['pending', 'running'] } });
  if (open > 0) fail('conflict', 'A job of the subscription runs', { reason: 'job_runs' });
}

async function begin(
  ctx: Context,
  { id: subscriptionId, clientId }: WebhookSubscription,
  given: Pick<WebhookJob, 'kind' | 'filter' | 'matched'>,
): Promise<WebhookJob> {
  await requireNoJob(ctx, subscriptionId);
  const nobody = new Date(0);
  const owned = { subscriptionId, clientId, requestedBy: actorOf(ctx.caller), createdAt: ctx.now(), claimedUntil: nobody };
  const job = Object.assign(new WebhookJob(), given, owned);
  ctx.em.persist(job);
  ctx.audit(`webhook_job.${given.kind}`, job.id, { subscription_id: subscriptionId, matched: given.matched });
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

const NO_JOB = {
  id: null,
  kind: null,
  subscriptionId: null,
  status: null,
  created: null,
  skipped: null,
  requestedBy: null,
  createdAt: null,
};

function shown(job: WebhookJob): WebhookDeadLetterReplay {
  const { id, kind, subscriptionId, status, matched, created, skipped, requestedBy, createdAt } = job;
  return { id, kind, subscriptionId, status, matched, created, skipped, requestedBy, createdAt };
}

/** Begins to deliver dead letters again; a dry run only counts them. @throws Problem invalid_request, not_found, conflict. */
export async function replayDeadLetters(ctx: Context, input: ReplayWebhookDeadLettersInput): Promise<WebhookDeadLetterReplay> {
  if (input.userId != null && !isUuid(input.userId)) invalid('/input/userId', 'is not an id');
  const subscription = await requireSubscription(ctx, input.subscriptionId);
  const filter = filterOf(input);
  const matched = await countDead(ctx, subscription.id, filter);
  if (input.dryRun) {
    ctx.status(200);
    return { ...NO_JOB, matched };
  }
  if (subscription.status === 'disabled') fail('conflict', 'The subscription is disabled', { reason: 'subscription_disabled' });
  if (matched > MAX_REPLAYED)
    fail('invalid_request', `${matched} dead letters match; narrow the filter to at most ${MAX_REPLAYED}`, { reason: 'too_many' });
  return shown(await begin(ctx, subscription, { kind: 'replay_dead_letters', filter, matched }));
}

/** Begins to deliver the events of a time that were missed. @throws Problem invalid_request, not_found, conflict. */
export async function recoverSubscription(ctx: Context, { id, since, until }: RecoverWebhookSubscriptionInput): Promise<WebhookJob> {
  const to = until ?? ctx.now();
  const errors = spanViolations(since, to, ctx.now());
  if (errors.length) fail('invalid_request', 'The time is invalid', { errors });
  const subscription = await requireSubscription(ctx, id);
  const { status } = subscription;
  if (status !== 'active') fail('conflict', `The subscription is ${status}`, { reason: `subscription_${status}` });
  return begin(ctx, subscription, { kind: 'recover', filter: { from: since.toISOString(), to: to.toISOString() }, matched: 0 });
}

/** Stops a job; what it has made stays. @throws Problem not_found, conflict. */
export async function cancelJob(ctx: Context, id: string): Promise<WebhookJob> {
  await requireManaged(ctx, WebhookJob, { id });
  await ctx.sql('select 1 from webhooks.webhook_job where id = $1 for update', [id]);
  const job = await ctx.em.findOneOrFail(WebhookJob, { id }, { refresh: true });
  job.status = move(JOB_STATES, 'webhook job', job.status, 'cancel');
  job.finishedAt = ctx.now();
  ctx.audit('webhook_job.cancelled', id, { created: job.created });
  return job;
}
