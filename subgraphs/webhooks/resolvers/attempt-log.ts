import type { FilterQuery } from '@mikro-orm/postgresql';
import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { WebhookAttempt, WebhookAttemptConnection } from '../entities/delivery.js';
import { READERS } from '../entities/subscription.js';
import { WebhookAttemptsArgs } from '../inputs/delivery.js';
import { listedClients } from '../queries/managed.js';

const DAY_MS = 86_400_000;
const MAX_DAYS = 7;

/** The window of the log, by default the last 24 hours. @throws Problem invalid_request. */
function windowOf({ from, to }: WebhookAttemptsArgs, now: Date): { from: Date; to: Date } {
  const end = to ?? now;
  const start = from ?? new Date(end.getTime() - DAY_MS);
  const refuse = (message: string): never => fail('invalid_request', 'The window is invalid', { errors: [{ pointer: '/from', message }] });
  if (start >= end) refuse('must lie before `to`');
  if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS) refuse(`must lie at most ${MAX_DAYS} days before \`to\``);
  return { from: start, to: end };
}

/** Subscriptions whose attempts are listed, deleted ones included; null: all. */
async function subscriptionsOf(ctx: Context, { clientId, subscriptionId }: WebhookAttemptsArgs): Promise<string[] | null> {
  const clients = await listedClients(ctx, clientId);
  if (clients === null) return subscriptionId == null ? null : [subscriptionId].filter(isUuid);
  const rows = await ctx.sql<{ id: string }>('select id from webhooks.webhook_subscription where client_id = any($1::text[])', [clients]);
  return rows.map(row => row.id).filter(id => subscriptionId == null || id === subscriptionId.toLowerCase());
}

@Resolver(() => WebhookAttempt)
export class AttemptLogResolver {
  @Access(READERS)
  @Query(() => WebhookAttemptConnection, {
    description: 'Every request of a time of at most 7 days, by default the last 24 hours; newest first. Tests are among them.',
  })
  async webhookAttempts(
    @Args(() => WebhookAttemptsArgs) args: WebhookAttemptsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookAttempt>> {
    const { from, to } = windowOf(args, ctx.now());
    const { eventType, error, statusCode, succeeded, trigger } = args;
    const subscriptions = await subscriptionsOf(ctx, args);
    const conditions: FilterQuery<WebhookAttempt>[] = [
      { startedAt: { $gte: from, $lte: to } },
      ...(subscriptions === null ? [] : [{ subscriptionId: { $in: subscriptions } }]),
      ...(eventType == null ? [] : [{ eventType }]),
      ...(error == null ? [] : [{ error }]),
      ...(statusCode == null ? [] : [{ statusCode }]),
      ...(succeeded == null ? [] : [{ error: succeeded ? null : { $ne: null } }]),
      ...(trigger == null ? [] : [{ trigger }]),
    ];
    return page(ctx.em, WebhookAttempt, { $and: conditions }, args, { time: 'startedAt' });
  }
}
