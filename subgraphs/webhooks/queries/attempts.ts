import type { FilterQuery } from '@mikro-orm/postgresql';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { WebhookAttempt } from '../entities/attempt.js';
import type { WebhookAttemptsArgs } from '../inputs/delivery.js';
import { listedClients } from './managed.js';

const MAX_DAYS = 7;

const windowViolation = (message: string): never =>
  fail('invalid_request', 'The window is invalid', { errors: [{ pointer: '/from', message }] });

/** The window of the log, by default the last 24 hours. @throws Problem invalid_request. */
function windowOf({ from, to }: WebhookAttemptsArgs, now: Date): { $gte: Date; $lte: Date } {
  const end = to ?? now;
  const start = from ?? after(end, -DAY_MS);
  if (start >= end) windowViolation('must lie before `to`');
  if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS) windowViolation(`must lie at most ${MAX_DAYS} days before \`to\``);
  return { $gte: start, $lte: end };
}

/** Subscriptions whose attempts are listed, deleted ones included; null: all. */
async function subscriptionsOf(ctx: Context, { clientId, subscriptionId }: WebhookAttemptsArgs): Promise<string[] | null> {
  const clients = await listedClients(ctx, clientId);
  if (clients === null) return subscriptionId == null ? null : [subscriptionId].filter(isUuid);
  const rows = await ctx.sql<{ id: string }>('select id from webhooks.webhook_subscription where client_id = any($1::text[])', [clients]);
  return rows.map(row => row.id).filter(id => subscriptionId == null || id === subscriptionId.toLowerCase());
}

/** Attempts of a window, newest first; tests are among them. @throws Problem invalid_request, not_found. */
export async function listAttempts(ctx: Context, args: WebhookAttemptsArgs): Promise<Connection<WebhookAttempt>> {
  const startedAt = windowOf(args, ctx.now());
  const { eventType, error, statusCode, succeeded, trigger } = args;
  const subscriptions = await subscriptionsOf(ctx, args);
  const conditions: FilterQuery<WebhookAttempt>[] = [
    { startedAt },
    ...(subscriptions === null ? [] : [{ subscriptionId: { $in: subscriptions } }]),
    ...(eventType == null ? [] : [{ eventType }]),
    ...(error == null ? [] : [{ error }]),
    ...(statusCode == null ? [] : [{ statusCode }]),
    ...(succeeded == null ? [] : [{ error: succeeded ? null : { $ne: null } }]),
    ...(trigger == null ? [] : [{ trigger }]),
  ];
  return page(ctx.em, WebhookAttempt, { $and: conditions }, args, { time: 'startedAt' });
}
