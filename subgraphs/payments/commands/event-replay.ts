import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { ProcessorEventStatus as Status } from '../entities/enums-operations.js';
import type { ReplayResult } from '../entities/operations.js';
import { ProcessorEvent } from '../entities/processor-event.js';
import type { ReplayProcessorEventsInput } from '../inputs/operations.js';
import { processorOf } from '../ports/processors.js';
import { handleEvent } from './processor-event.js';

const MOST = 500;
const FAILED = { $in: [Status.FAILED, Status.DEAD] };

/** @throws Problem invalid_request unless it names events, or a period. */
function wanted(ctx: Context, { eventIds, from, to, types, onlyFailed }: ReplayProcessorEventsInput): FilterQuery<ProcessorEvent> {
  const processor = processorOf(ctx.host).name;
  if (eventIds) return { processor, id: { $in: eventIds.map(id => id.toLowerCase()) } };
  if (!from || !to) return invalid('/input/event_ids', 'or a period is required');
  if (from >= to) return invalid('/input/from', 'must be before `to`');
  const type = types.length > 0 ? { type: { $in: types } } : {};
  return { processor, receivedAt: { $gte: from, $lt: to }, ...type, ...(onlyFailed && { status: FAILED }) };
}

const statusesOf = (ctx: Context, ids: readonly string[]): Promise<ProcessorEvent[]> =>
  ctx.em.find(ProcessorEvent, { id: { $in: [...ids] } }, { orderBy: { receivedAt: 'asc', id: 'asc' } });

/**
 * Handles kept calls again, oldest first, from their raw bodies; each reads its object anew, so that nothing happens twice. Outside
 * transactions. Source: payments 4.4, 7.6.
 */
export async function replayEvents(host: ServiceHost, input: ReplayProcessorEventsInput, by: Context): Promise<ReplayResult> {
  const order = { receivedAt: 'asc', id: 'asc' } as const;
  const ids = await host.read(async ctx =>
    (await ctx.em.find(ProcessorEvent, wanted(ctx, input), { orderBy: order, limit: MOST })).map(({ id }) => id),
  );
  const counts = { changed: 0, unchanged: 0, failed: 0 };
  if (!input.dryRun) {
    await host.transaction(async ctx => ctx.audit('processor_event.replayed', null, { events: ids.length }), by.request);
    for (const id of ids) counts[await handleEvent(host, id, { again: true })]++;
  }
  const events = await host.read(ctx => statusesOf(ctx, ids));
  const { changed: replayed, unchanged, failed } = counts;
  return { matched: ids.length, replayed, unchanged, failed, events: events.map(({ id, status }) => ({ id, status })) };
}
