import { DeadLetterConflict, discardDeadLetter, replayDeadLetter } from '../../../events/dead-letters.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import type { ConsumerDeadLetter, DeadLetterReplay } from '../entities/dead-letter.js';
import type {
  DiscardConsumerDeadLetterInput,
  ReplayConsumerDeadLetterInput,
  ReplayConsumerDeadLettersInput,
} from '../inputs/operations.js';
import { consumerOf } from '../queries/consumers.js';
import { letterOf } from '../queries/dead-letters.js';

/** Changes a letter and shows it as it then is. @throws Problem not_found, or conflict naming the one that blocks it. */
async function change(ctx: Context, id: string, work: () => Promise<unknown>): Promise<ConsumerDeadLetter> {
  if (!isUuid(id) || !(await ctx.sql('select 1 from events.dead_letter where id = $1', [id])).length)
    fail('not_found', 'There is no such dead letter');
  await work().catch(error => {
    throw error instanceof DeadLetterConflict ? fail('conflict', error.message) : error;
  });
  return (await letterOf(ctx, id))!;
}

/** Tries a dead letter again, and after it what is parked behind it. @throws Problem not_found, conflict. */
export function replayLetter(ctx: Context, { id, reason }: ReplayConsumerDeadLetterInput): Promise<ConsumerDeadLetter> {
  ctx.audit('dead_letter.replayed', id, { ...(reason && { reason }) });
  return change(ctx, id, () => replayDeadLetter(ctx.sql, id, ctx.now()));
}

/** Gives a dead letter up; its key goes on with the next event. @throws Problem not_found, conflict. */
export function discardLetter(ctx: Context, { id, reason }: DiscardConsumerDeadLetterInput): Promise<ConsumerDeadLetter> {
  ctx.audit('dead_letter.discarded', id, { reason });
  return change(ctx, id, () => discardDeadLetter(ctx.sql, id, reason, actorOf(ctx.caller), ctx.now()));
}

const REPLAY_FIRST = `
with first as (
  select distinct on (d.order_key) d.id, d.order_key, d.status, d.reason, d.type from events.dead_letter d
  where d.consumer = $1 and d.status in ('dead', 'retrying', 'parked') order by d.order_key, d.seq, d.id
), replayed as (
  update events.dead_letter d set status = 'retrying', next_attempt_at = $2::timestamptz, attempts = 0 from first f
  where d.id = f.id and d.status = 'dead' and ($3::text is null or f.reason = $3) and ($4::text is null or f.type = $4) returning d.order_key
)
select (select count(*)::int from replayed) as keys, (select count(*)::int from events.dead_letter d join replayed r on r.order_key = d.order_key
  where d.consumer = $1 and d.status in ('dead', 'retrying', 'parked')) as events`;

/** Makes the first letter of each key due now, where it is dead and of the reason and type; what is parked behind it follows by itself. */
async function replayFirst(
  ctx: Context,
  consumer: string,
  reason: string | null,
  type: string | null,
): Promise<{ keys: number; events: number }> {
  const [row] = await ctx.sql<{ keys: number; events: number }>(REPLAY_FIRST, [consumer, ctx.now().toISOString(), reason, type]);
  return row!;
}

/** Tries a consumer's dead letters again, each key from its first one. @throws Problem invalid_request. */
export async function replayLetters(ctx: Context, input: ReplayConsumerDeadLettersInput): Promise<DeadLetterReplay> {
  const { consumer, reason = null, type = null, note } = input;
  if (!(await consumerOf(ctx, consumer))) invalid('/consumer', 'is not a consumer');
  const replayed = await replayFirst(ctx, consumer, reason, type);
  ctx.audit('dead_letters.replayed', consumer, { ...replayed, reason, type, ...(note && { note }) });
  return replayed;
}
