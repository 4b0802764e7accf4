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
import { configurationOf } from '../commands/configuration.js';
import { putGrant, readGrantsOf, stateOf, type Grants } from '../commands/grants.js';
import { dataContext } from '../commands/ingest.js';
import type { JobStep } from './jobs.js';

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

interface Asked {
  events: (LoggedEvent & { userId: string })[];
  /** Grants of users of whom nothing was known. */
  grants: readonly AskedGrant[];
  position: string | null;
  more: boolean;
}

interface Answer {
  deliveryLog: { nodes: LoggedEvent[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } };
}

/** Outside any transaction: the next events of the log, and what identity says of users whose grants are not known. */
async function ask(ctx: Context, job: WebhookJob): Promise<Asked | null> {
  const configuration = configurationOf(ctx.host);
  await configuration.refresh(ctx.sql);
  const types = [...(configuration.get(job.subscriptionId)?.eventTypes ?? [])];
  if (types.length === 0) return null;
  const { from, to } = job.filter;
  const { deliveryLog } = await ctx.federation.run<Answer>(LOG, { types, from, to, first: PAGE, after: job.position });
  const events = deliveryLog.nodes.filter((event): event is Asked['events'][number] => event.userId !== null);
  const users = [...new Set(events.map(event => event.userId))];
  const known = await readGrantsOf(ctx.sql, users);
  const missing = users.filter((_, index) => !known[index]!.has(job.clientId));
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

const deliveryOf = (event: Asked['events'][number]): BulkDelivery => ({
  id: newId(),
  eventId: event.id,
  userId: event.userId,
  eventType: event.type,
  sequence: event.sequence,
  replayNo: 0,
  replayOfId: null,
});

/** Events of the log that the subscription has no delivery of become deliveries, if the grant of now covers them. Source: rule 14. */
export const recoverStep: JobStep = {
  prepare: ask,
  async run(ctx, job, facts) {
    const asked = facts as Asked | null;
    if (!asked) return { outcome: 'failed' };
    const users = [...new Set(asked.events.map(event => event.userId))];
    const configuration = configurationOf(ctx.host);
    await configuration.refresh(ctx.sql, await enterUsers(ctx.sql, users));
    const subscription = configuration.get(job.subscriptionId);
    if (!subscription || subscription.status === 'disabled') return { outcome: 'failed' };
    const erased = await erasedOf(ctx.sql, users);
    const grants = new Map((await readGrantsOf(ctx.sql, users)).map((found, index) => [users[index]!, found]));
    await fill(
      ctx,
      asked.grants.filter(grant => !erased.has(grant.userId)),
      grants,
    );
    const wanted = asked.events.filter(({ id, type, userId, sequence }) => {
      const scope = CATALOGUE.get(type)?.scope;
      if (!scope || erased.has(userId) || !subscription.eventTypes.has(type)) return false;
      return covers(grants.get(userId)?.get(job.clientId), scope, { sequence, occurredAt: timeOfId(id) });
    });
    const sealer = sealerOf(ctx.host);
    const seal = (event: LoggedEvent): Buffer => sealer.seal(event.dataText, dataContext(event.id));
    if (wanted.length)
      await storeEvents(
        ctx.sql,
        wanted.map(event => ({ ...event, dataSealed: seal(event) })),
      );
    const created = await enqueueMany(ctx.sql, subscription, wanted.map(deliveryOf), ctx.now());
    const counts = { matched: wanted.length, created, skipped: wanted.length - created };
    return { outcome: asked.more ? 'more' : 'completed', position: asked.position ?? job.position, ...counts };
  },
};
