import { headsOfLog } from '../../../events/log-position.js';
import { countReplay, MAX_REPLAYED, type ReplayFilter } from '../../../events/replay-log.js';
import { newId } from '../../../runtime/data/ids.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import type { EventReplayStatus } from '../entities/enums.js';
import { EventReplayPreview, type EventReplay } from '../entities/replay.js';
import type { CancelEventReplayInput, CreateEventReplayInput } from '../inputs/replay.js';
import { lockReplay, openReplayOf, replayOf } from '../queries/replays.js';
import { REPLAY_STATES } from '../rules.js';
import { checkReplay, storedFilter, type ReplayedConsumer } from './replay-checks.js';

const CONSUMER = 'select status, on_replay as "onReplay" from events.consumer where name = $1 for update';

/** Locked, so that of two who ask at once one is refused; null for none. */
async function lockReplayed(ctx: Context, name: string): Promise<ReplayedConsumer | null> {
  const [row] = await ctx.sql<ReplayedConsumer>(CONSUMER, [name]);
  return row ?? null;
}

/** @throws Problem conflict. */
async function requireFree(ctx: Context, name: string, { status }: ReplayedConsumer): Promise<void> {
  if (status === 'detached') fail('conflict', 'The consumer is detached; attaching it again sends what it has missed');
  const open = await openReplayOf(ctx, name);
  if (open) fail('conflict', `The replay ${open} of this consumer is not finished`);
}

const INSERT = `
insert into events.replay (id, consumer, mode, filter, status, total, requested_by, reason, created_at, at_group, upto)
values ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, case when $9::uuid is null then 0 else (hashtextextended('u:' || $9::uuid, 0) & 63)::int >> 3 end, $10)`;

/** Goes up to where the log ends now. */
async function insertReplay(ctx: Context, input: CreateEventReplayInput, filter: ReplayFilter, total: number): Promise<EventReplay> {
  const id = newId();
  const { consumer, mode, reason } = input;
  const upto = await headsOfLog(ctx.sql);
  await ctx.sql(INSERT, [
    id,
    consumer,
    mode ?? 'dedupe',
    JSON.stringify(filter),
    total,
    actorOf(ctx.caller),
    reason,
    ctx.now().toISOString(),
    filter.user_id ?? null,
    upto,
  ]);
  return (await replayOf(ctx, id))!;
}

function preview(ctx: Context, consumer: string, total: number): EventReplayPreview {
  ctx.status(200);
  ctx.audit('replay.previewed', consumer, { total });
  return Object.assign(new EventReplayPreview(), { total });
}

/** Sends events of the log to one consumer again; a dry run only counts them. @throws Problem invalid_request, conflict. */
export async function createReplay(ctx: Context, input: CreateEventReplayInput): Promise<EventReplay | EventReplayPreview> {
  const consumer = await lockReplayed(ctx, input.consumer);
  await checkReplay(ctx, input, consumer);
  await requireFree(ctx, input.consumer, consumer!);
  const filter = storedFilter(ctx, input.filter);
  const total = await countReplay(ctx.sql, filter);
  if (total > MAX_REPLAYED) invalid('/input/filter', `lets more than ${MAX_REPLAYED} events through`);
  if (input.dryRun) return preview(ctx, input.consumer, total);
  const replay = await insertReplay(ctx, input, filter, total);
  ctx.audit('replay.created', replay.id, { consumer: input.consumer, mode: replay.mode, total, reason: input.reason });
  return replay;
}

/** Ends a replay; what was sent stays sent. @throws Problem not_found, conflict. */
export async function cancelReplay(ctx: Context, { id, reason }: CancelEventReplayInput): Promise<EventReplay> {
  const replay = (await lockReplay(ctx, id)) ?? fail('not_found', 'There is no such replay');
  const status = move<EventReplayStatus, 'cancel'>(REPLAY_STATES, 'replay', replay.status, 'cancel');
  const finishedAt = ctx.now();
  await ctx.sql('update events.replay set status = $2, finished_at = $3 where id = $1', [id, status, finishedAt.toISOString()]);
  ctx.audit('replay.cancelled', id, { consumer: replay.consumerName, sent: replay.sent, ...(reason && { reason }) });
  return Object.assign(replay, { status, finishedAt });
}
