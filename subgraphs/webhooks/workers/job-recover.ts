import { CATALOGUE } from '../../../events/catalogue.js';
import { timeOfId } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';
import { newId } from '../../../runtime/data/ids.js';
import type { WebhookJob } from '../entities/job.js';
import { askGrants, type AskedGrant } from '../ports/grant-source.js';
import { sealerOf } from '../ports/sealer.js';
import { covers } from '../rules/grants.js';
import { enqueueMany, enterUsers, erasedOf, storeEvents, type BulkDelivery } from '../commands/bulk.js';
import { configurationOf, type SubscriptionConfiguration } from '../commands/configuration.js';
import { grantsByUser, putGrant, stateOf, type Grants } from '../commands/grants.js';
import { dataContext } from '../commands/ingest.js';
import { openSubscription, type JobStep, type StepResult } from './job-step.js';

/** Events of one question, and so of one transaction. */
const PAGE = 100;

const LOG = stored(`query WebhookRecovery($types: [String!], $from: DateTime, $to: DateTime, $first: Int!, $after: String) {
  deliveryLog(types: $types, occurredFrom: $from, occurredTo: $to, first: $first, after: $after) {
    nodes { id type userId occurredAt sequence dataText } pageInfo { endCursor hasNextPage }
  }
}`);

interface LoggedEvent {
  id: string;
  type: string;
  userId: string | null;
  occurredAt: string;
  sequence: number;
  dataText: string;
}

type UserEvent = LoggedEvent & { userId: string };

interface Asked {
  events: UserEvent[];
  /** Grants of users of whom nothing was known. */
  grants: readonly AskedGrant[];
  position: string | null;
  more: boolean;
}

interface Answer {
  deliveryLog: { nodes: LoggedEvent[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } };
}

const usersOf = (events: readonly UserEvent[]): string[] => [...new Set(events.map(event => event.userId))];

/** Outside any transaction: the next events of the log, and identity's answer about users whose grants are not known. */
async function ask(ctx: Context, job: WebhookJob): Promise<Asked | null> {
  const configuration = configurationOf(ctx.host);
  await configuration.refresh(ctx.sql);
  const types = [...(configuration.get(job.subscriptionId)?.eventTypes ?? [])];
  if (types.length === 0) return null;
  const { from, to } = job.filter;
  const { deliveryLog } = await ctx.federation.run<Answer>(LOG, { types, from, to, first: PAGE, after: job.position });
  const events = deliveryLog.nodes.filter((event): event is UserEvent => event.userId !== null);
  const known = await grantsByUser(ctx.sql, usersOf(events));
  const missing = [...known].filter(([, grants]) => !grants.has(job.clientId)).map(([userId]) => userId);
  const grants = missing.length ? await askGrants(ctx.federation, missing) : [];
  return { events, grants, position: deliveryLog.pageInfo.endCursor, more: deliveryLog.pageInfo.hasNextPage };
}

async function fill(ctx: Context, asked: readonly AskedGrant[], grants: ReadonlyMap<string, Grants>): Promise<void> {
  for (const grant of asked) {
    const known = grants.get(grant.userId)!;
    const next = await putGrant(ctx.sql, grant.userId, grant.clientId, known.get(grant.clientId), stateOf(grant));
    if (next) known.set(grant.clientId, next);
  }
}

/** What is in the filter and covered by a grant of somebody who is not erased. */
async function wantedOf(ctx: Context, { events, grants: asked }: Asked, subscription: SubscriptionConfiguration): Promise<UserEvent[]> {
  const users = usersOf(events);
  const erased = await erasedOf(ctx.sql, users);
  const grants = await grantsByUser(ctx.sql, users);
  const living = asked.filter(grant => !erased.has(grant.userId));
  await fill(ctx, living, grants);
  return events.filter(({ id, type, userId, sequence, dataText }) => {
    const { scope, withheld } = CATALOGUE.get(type) ?? {};
    if (!scope || erased.has(userId) || !subscription.eventTypes.has(type) || withheld?.(JSON.parse(dataText))) return false;
    return covers(grants.get(userId)?.get(subscription.clientId), scope, { sequence, occurredAt: timeOfId(id) });
  });
}

async function keep(ctx: Context, events: readonly UserEvent[]): Promise<void> {
  if (events.length === 0) return;
  const sealer = sealerOf(ctx.host);
  const sealed = events.map(event => ({ ...event, dataSealed: sealer.seal(event.dataText, dataContext(event.id)) }));
  await storeEvents(ctx.sql, sealed);
}

const deliveryOf = (event: UserEvent): BulkDelivery => ({
  id: newId(),
  eventId: event.id,
  userId: event.userId,
  eventType: event.type,
  sequence: event.sequence,
  replayNo: 0,
  replayOfId: null,
});

async function deliverMissed(ctx: Context, job: WebhookJob, asked: Asked): Promise<StepResult> {
  const configuration = configurationOf(ctx.host);
  await configuration.refresh(ctx.sql, await enterUsers(ctx.sql, usersOf(asked.events)));
  const subscription = openSubscription(configuration, job);
  if (!subscription) return { outcome: 'failed' };
  const wanted = await wantedOf(ctx, asked, subscription);
  await keep(ctx, wanted);
  const created = await enqueueMany(ctx.sql, subscription, wanted.map(deliveryOf), ctx.now());
  const counts = { matched: wanted.length, created, skipped: wanted.length - created };
  return { outcome: asked.more ? 'more' : 'completed', position: asked.position ?? job.position, ...counts };
}

/** Events of the log that the subscription has no delivery of become deliveries, if the present grant covers them. Source: rule 14. */
export const recoverStep: JobStep = async (outside, job) => {
  const asked = await ask(outside, job);
  return async ctx => (asked ? deliverMissed(ctx, job, asked) : { outcome: 'failed' });
};
