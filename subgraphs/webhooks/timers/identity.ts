import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { HOUR_MS } from '../../../runtime/time/durations.js';
import { sweepTimer } from '../../../runtime/time/schedule.js';
import { checkClient } from '../commands/clients.js';
import { configurationOf } from '../commands/configuration.js';
import { reconcileGrants } from '../commands/grant-changes.js';
import { readGrantsOf } from '../commands/grants.js';
import { askGrants } from '../ports/grant-source.js';

/** Every hour looks at the grants of one part of the users. */
const PARTS = 24;
/** Users who are asked about in one question. */
const CHUNK = 100;

const CLIENTS = `select distinct client_id from webhooks.webhook_subscription where deleted_at is null and status in ('active', 'paused')`;
const USERS = `
select distinct user_id from webhooks.grant_projection where scopes <> '{}' and mod(abs(hashtext(user_id::text)::bigint), ${PARTS}) = $1`;

async function compareChunk(ctx: Context, users: readonly string[]): Promise<void> {
  const seen = await readGrantsOf(ctx.sql, users);
  const asked = await askGrants(ctx.federation, users);
  const askedOf = (userId: string) => asked.filter(one => one.userId === userId);
  for (const [index, userId] of users.entries()) await reconcileGrants(ctx.host, userId, seen[index]!, askedOf(userId));
}

async function compareGrants(ctx: Context, part: number): Promise<void> {
  const users = (await ctx.sql<{ user_id: string }>(USERS, [part])).map(row => row.user_id);
  for (let at = 0; at < users.length; at += CHUNK) await compareChunk(ctx, users.slice(at, at + CHUNK));
}

/** What identity knows of the clients of all open subscriptions, and of the grants of the users of these of 24 parts. */
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
