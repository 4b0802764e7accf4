import { CATALOGUE } from '../../../events/catalogue.js';
import { firstIdAt } from '../../../events/envelope.js';
import type { ReplayFilter } from '../../../events/replay-log.js';
import type { Context } from '../../../runtime/request/context.js';
import { type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { HOUR_MS } from '../../../runtime/time/durations.js';
import type { CreateEventReplayInput, EventReplayFilterInput } from '../inputs/replay.js';

/** What the log no longer has. System time, as retention is. */
interface Horizon {
  oldest: Date;
  droppedSequence: number;
}

/** Days that the log is kept, where `EVENTS_LOG_RETENTION_DAYS` is not set. */
const LOG_DAYS = 30;

/** An id is made before its event's time is set, by a transaction's length at most; an hour is on the safe side. */
const ID_MARGIN_MS = HOUR_MS;

async function horizonOf(ctx: Context): Promise<Horizon> {
  const days = Number(ctx.host.config.setting('EVENTS_LOG_RETENTION_DAYS') ?? LOG_DAYS);
  const [row] = await ctx.sql<{ oldest: string; dropped: number }>(
    `select clock_timestamp() - $1 * interval '1 day' as oldest, (select max(seq)::float8 from events.log_floor) as dropped`,
    [days],
  );
  return { oldest: new Date(row!.oldest), droppedSequence: row!.dropped };
}

const violation = (pointer: string, message: string, wrong: boolean): Violation[] =>
  wrong ? [{ pointer: `/input${pointer}`, message }] : [];

function filterViolations(filter: EventReplayFilterInput, { oldest, droppedSequence }: Horizon): Violation[] {
  const { types, userId, occurredFrom, occurredTo, sequenceFrom, sequenceTo } = filter;
  const empty = [types, userId, occurredFrom, occurredTo, sequenceFrom, sequenceTo].every(one => one == null);
  return [
    ...violation('/filter', 'must have at least one condition', empty),
    ...(types ?? []).flatMap((type, index) => violation(`/filter/types/${index}`, 'is not an event type', !CATALOGUE.has(type))),
    ...violation('/filter/userId', 'must be a UUID', userId != null && !isUuid(userId)),
    ...violation('/filter/occurredFrom', 'is before what the log still has', occurredFrom != null && occurredFrom < oldest),
    ...violation(
      '/filter/occurredTo',
      'must be after occurred_from',
      occurredFrom != null && occurredTo != null && occurredTo <= occurredFrom,
    ),
    ...violation(
      '/filter/sequenceFrom',
      'is before what the log still has',
      sequenceFrom != null && droppedSequence > 0 && sequenceFrom <= droppedSequence,
    ),
    ...violation(
      '/filter/sequenceTo',
      'must not be before sequence_from',
      sequenceFrom != null && sequenceTo != null && sequenceTo < sequenceFrom,
    ),
  ];
}

/** The consumer as far as a replay must know it. */
export interface ReplayedConsumer {
  status: string;
  onReplay: string;
}

/** @throws Problem invalid_request with every violation. */
export async function checkReplay(ctx: Context, input: CreateEventReplayInput, consumer: ReplayedConsumer | null): Promise<void> {
  const errors = [
    ...violation('/consumer', 'is not a consumer', consumer === null),
    ...violation(
      '/mode',
      'is not declared by this consumer: its handlers run once',
      input.mode === 'rerun' && consumer?.onReplay === 'dedupe',
    ),
    ...filterViolations(input.filter, await horizonOf(ctx)),
  ];
  requireValid(errors);
}

/** As it is stored. With a manual clock times of events say nothing about their ids. */
export function storedFilter({ host }: Context, filter: EventReplayFilterInput): ReplayFilter {
  const { types, userId, occurredFrom, occurredTo, sequenceFrom, sequenceTo } = filter;
  return {
    ...(types && { types }),
    ...(userId && { user_id: userId.toLowerCase() }),
    ...(occurredFrom && { occurred_from: occurredFrom.toISOString() }),
    ...(occurredTo && { occurred_to: occurredTo.toISOString() }),
    ...(sequenceFrom != null && { sequence_from: sequenceFrom }),
    ...(sequenceTo != null && { sequence_to: sequenceTo }),
    ...(occurredFrom && !host.config.manualClock && { id_from: firstIdAt(occurredFrom.getTime() - ID_MARGIN_MS) }),
  };
}
