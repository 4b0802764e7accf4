import { CATALOGUE } from '../../../events/catalogue.js';
import { timeOfId } from '../../../events/envelope.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { enqueueMany, enterUsers, type BulkDelivery } from '../commands/bulk.js';
import { configurationOf, type SubscriptionConfiguration } from '../commands/configuration.js';
import { grantsByUser, type Grants } from '../commands/grants.js';
import type { WebhookJob } from '../entities/job.js';
import { nextDead, positionAfter, type DeadLetter } from '../queries/dead-letters.js';
import { covers } from '../rules/grants.js';
import { isOpen } from '../rules/states.js';
import { openSubscription, type JobStep, type StepResult } from './job-step.js';

/** Deliveries of one transaction at most. Source: section 8. */
const STEP = 500;

const isGranted = ({ eventId, eventType, sequence }: DeadLetter, grants: Grants | undefined, clientId: string): boolean =>
  covers(grants?.get(clientId), CATALOGUE.get(eventType)?.scope ?? '', { sequence, occurredAt: timeOfId(eventId) });

const isSendable = (one: DeadLetter, subscription: SubscriptionConfiguration, grants: Grants | undefined): boolean =>
  one.kept && !isOpen(one.newestStatus) && subscription.eventTypes.has(one.eventType) && isGranted(one, grants, subscription.clientId);

const againOf = (one: DeadLetter): BulkDelivery => ({ ...one, id: newId(), replayNo: one.newestNo + 1, replayOfId: one.id });

async function sendNext(ctx: Context, job: WebhookJob): Promise<StepResult> {
  const dead = await nextDead(ctx, job, STEP);
  const users = [...new Set(dead.map(one => one.userId))];
  const configuration = configurationOf(ctx.host);
  await configuration.refresh(ctx.sql, await enterUsers(ctx.sql, users));
  const subscription = openSubscription(configuration, job);
  if (!subscription) return { outcome: 'failed' };
  const grants = await grantsByUser(ctx.sql, users);
  const sendable = dead.filter(one => isSendable(one, subscription, grants.get(one.userId)));
  const created = await enqueueMany(ctx.sql, subscription, sendable.map(againOf), ctx.now());
  const last = dead.at(-1);
  const position = last ? positionAfter(last) : job.position;
  return { outcome: dead.length < STEP ? 'completed' : 'more', position, matched: 0, created, skipped: dead.length - created };
}

/** The next dead letters go out again, each in its user's order where its event belongs. Source: rules 8 and 14. */
export const replayStep: JobStep = async (_ctx, job) => ctx => sendNext(ctx, job);
