import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { sweepTimer } from '../../../runtime/time/schedule.js';
import { CATALOGUE } from '../../../events/catalogue.js';
import type { ServiceHost } from '../../../runtime/host.js';
import { askClient, askGrants, type AskedGrant } from '../ports/grant-source.js';
import { clientViolation, sortedTypes, typeViolation, type ClientFacts } from '../rules/filter.js';
import { reconciled } from '../rules/grants.js';
import { changeConfiguration, configurationOf, type SubscriptionConfiguration } from '../commands/configuration.js';
import { enterUser, readGrantsOf, stateOf, writeGrant, type Grants } from '../commands/grants.js';
import { closeOpen } from '../commands/lanes.js';
import { cancelLost } from '../commands/lost-grants.js';
import { notify } from '../commands/notices.js';

const HOUR_MS = 3_600_000;
/** Every hour looks at the grants of one part of the users. */
const PARTS = 24;
/** Users who are asked about in one question. */
const CHUNK = 100;

interface Open {
  id: string;
  event_types: string[];
}

const OPEN = `select id, event_types from webhooks.webhook_subscription where client_id = $1 and deleted_at is null and status in ('active', 'paused')`;
const DISABLE = `
update webhooks.webhook_subscription set status = 'disabled', disabled_reason = $2, status_changed_at = $3, updated_at = $3, version = version + 1, configuration_version = $4
where id = $1`;
const NARROW = `
update webhooks.webhook_subscription set event_types = $2, updated_at = $3, version = version + 1, configuration_version = $4 where id = $1`;

/** The client may have no subscriptions any more. */
async function disableRemoved(ctx: Context, { id }: Open, version: string): Promise<void> {
  await ctx.sql(DISABLE, [id, 'client_inactive', ctx.now().toISOString(), version]);
  const cancelled = await closeOpen(ctx.sql, {
    subscriptionIds: [id],
    to: { status: 'cancelled', reason: 'client_removed' },
    now: ctx.now(),
  });
  ctx.audit('webhook_subscription.disabled', id, { status: 'disabled', reason: 'client_inactive', cancelled });
  await notify(ctx, id, 'disabled', 'client_inactive');
}

/** Types whose scope the client has lost leave the filter; with the last of them the subscription is disabled, its filter kept for the record. */
async function narrow(ctx: Context, { id, event_types }: Open, client: ClientFacts, version: string): Promise<void> {
  const lost = event_types.filter(type => typeViolation(CATALOGUE.get(type), client) !== null);
  if (lost.length === 0) return;
  const kept = sortedTypes(event_types.filter(type => !lost.includes(type)));
  const now = ctx.now().toISOString();
  await (kept.length > 0 ? ctx.sql(NARROW, [id, kept, now, version]) : ctx.sql(DISABLE, [id, 'scope_removed', now, version]));
  const closing = {
    subscriptionIds: [id],
    eventTypes: lost,
    to: { status: 'cancelled', reason: 'filter_changed' },
    now: ctx.now(),
  } as const;
  ctx.audit('webhook_subscription.scope_removed', id, {
    event_types: lost,
    cancelled: await closeOpen(ctx.sql, closing),
    disabled: kept.length === 0,
  });
  await (kept.length === 0 ? notify(ctx, id, 'disabled', 'scope_removed') : notify(ctx, id, 'scope_removed'));
}

const hasRefused = (subscriptions: readonly SubscriptionConfiguration[], client: ClientFacts): boolean =>
  subscriptions.some(({ eventTypes }) => [...eventTypes].some(type => typeViolation(CATALOGUE.get(type), client) !== null));

/** What identity says of a client is applied to its subscriptions. Source: section 3, CLIENT_INACTIVE and SCOPE_REMOVED. */
export async function checkClient(host: ServiceHost, clientId: string): Promise<void> {
  const open = configurationOf(host)
    .ofClient(clientId)
    .filter(one => one.status !== 'disabled');
  if (open.length === 0) return;
  const client = await askClient(host.federation, clientId);
  const unfit = clientViolation(client) !== null;
  if (!unfit && !hasRefused(open, client!)) return;
  await host.transaction(async ctx => {
    const version = await changeConfiguration(ctx.sql);
    for (const one of await ctx.sql<Open>(OPEN, [clientId]))
      await (unfit ? disableRemoved(ctx, one, version) : narrow(ctx, one, client!, version));
    ctx.afterCommit(() => configurationOf(host).refresh(ctx.sql));
  });
}

const CLIENTS = `select distinct client_id from webhooks.webhook_subscription where deleted_at is null and status in ('active', 'paused')`;
const USERS = `
select distinct user_id from webhooks.grant_projection where scopes <> '{}' and mod(abs(hashtext(user_id::text)::bigint), ${PARTS}) = $1`;

/** A user's projected grants are made what identity says, unless an event has changed them since they were read. */
async function reconcile(host: ServiceHost, userId: string, seen: Grants, asked: readonly AskedGrant[]): Promise<void> {
  const news = [...seen].filter(([clientId, known]) => {
    const grant = asked.find(one => one.clientId === clientId);
    return reconciled(known, grant ? stateOf(grant) : null, 0) !== null;
  });
  if (news.length === 0) return;
  await host.transaction(async ctx => {
    const { version, erased, grants } = await enterUser(ctx.sql, userId);
    if (erased) return;
    await configurationOf(host).refresh(ctx.sql, version);
    for (const [clientId, before] of news) {
      const known = grants.get(clientId);
      const grant = asked.find(one => one.clientId === clientId);
      const next =
        known?.grantId === before.grantId && known.version === before.version
          ? reconciled(known, grant ? stateOf(grant) : null, ctx.now().getTime())
          : null;
      if (!next) continue;
      await writeGrant(ctx.sql, userId, clientId, next);
      await cancelLost(ctx, { userId, clientId, before: known, after: next, reason: 'grant_revoked' });
    }
  });
}

async function compareGrants(ctx: Context, part: number): Promise<void> {
  const users = (await ctx.sql<{ user_id: string }>(USERS, [part])).map(row => row.user_id);
  for (let at = 0; at < users.length; at += CHUNK) {
    const chunk = users.slice(at, at + CHUNK);
    const seen = await readGrantsOf(ctx.sql, chunk);
    const asked = await askGrants(ctx.federation, chunk);
    for (const [index, userId] of chunk.entries())
      await reconcile(
        ctx.host,
        userId,
        seen[index]!,
        asked.filter(one => one.userId === userId),
      );
  }
}

/** What identity says of the clients of all open subscriptions, and of the grants of the users of these of 24 parts. */
async function sweep(ctx: Context, parts: readonly number[]): Promise<void> {
  await configurationOf(ctx.host).refresh(ctx.sql);
  for (const { client_id } of await ctx.sql<{ client_id: string }>(CLIENTS)) await checkClient(ctx.host, client_id);
  for (const part of parts) await compareGrants(ctx, part);
}

const partOf = (slot: Date): number => Math.floor(slot.getTime() / HOUR_MS) % PARTS;
const ALL = Array.from({ length: PARTS }, (_, part) => part);

/** One part in each hour, so that a day covers every grant once. */
export const hourly = sweepTimer({ name: 'identity', everyMs: HOUR_MS, run: (ctx, slot) => sweep(ctx, [partOf(slot)]) });
/** A manual clock that is moved by months runs every slot on its way: there the day's parts are done at once. */
const daily = sweepTimer({ name: 'identity', everyMs: PARTS * HOUR_MS, run: ctx => sweep(ctx, ALL) });

const timerOf = (ctx: Context): Timer<Context> => (ctx.host.config.manualClock ? daily : hourly);

/** Every hour the clients and a 24th of the grants. Source: rule 14. */
export const identityTimer: Timer<Context> = {
  name: 'identity',
  next: ctx => timerOf(ctx).next(ctx),
  run: (ctx, slot) => timerOf(ctx).run(ctx, slot),
  claimed: {
    claim: (ctx, slot) => timerOf(ctx).claimed!.claim(ctx, slot),
    keep: (ctx, slot) => timerOf(ctx).claimed!.keep(ctx, slot),
    finish: (ctx, slot) => timerOf(ctx).claimed!.finish(ctx, slot),
    running: async ctx => (await timerOf(ctx).claimed!.running?.(ctx)) ?? false,
  },
};
