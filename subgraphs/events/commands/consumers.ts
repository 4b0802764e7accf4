import { earlierOf, floorOfLog, positionBefore, type LogPosition } from '../../../events/log-position.js';
import type { ConsumerSpec } from '../../../events/transport/port.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { move } from '../../../runtime/request/states.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import type { EventConsumer } from '../entities/consumer.js';
import type { ConsumerStatus } from '../entities/enums.js';
import { CONSUMER_STATES, type ConsumerTrigger } from '../rules.js';
import { consumerOf, findConsumer } from '../queries/consumers.js';

/** The position of a detached consumer lies so much before what it had not handled: the relay and the broker may have been that late. */
const MARGIN_MS = 10 * MINUTE_MS;

interface Attached {
  status: ConsumerStatus;
  position: number[] | null;
  spec: ConsumerSpec;
}

const ATTACHED = `
select status, position::float8[] as position, json_build_object('name', name, 'types', types, 'partitions', partitions, 'generation', generation) as spec
from events.consumer where name = $1`;

/** When the oldest of these events was relayed, by the database's clock; its present where there is none. */
const OLDEST = `select least(clock_timestamp(), (select min(published_at) from events.outbox where id = any($1::uuid[]))) as at`;

/** A consumer as it stands, locked. @throws Problem not_found. */
async function lockConsumer(ctx: Context, name: string): Promise<EventConsumer> {
  await ctx.sql('select from events.consumer where name = $1 for update', [name]);
  return (await findConsumer(ctx, name)) ?? fail('not_found', 'There is no such consumer');
}

/** The status of a consumer after a trigger. @throws Problem conflict. */
const nextStatus = ({ status }: EventConsumer, trigger: ConsumerTrigger): ConsumerStatus =>
  move<ConsumerStatus, ConsumerTrigger>(CONSUMER_STATES, 'consumer', status, trigger);

const MOVE = 'update events.consumer set status = $2, paused_reason = $3, version = $4 where name = $1';

/** Every process that has the consumer follows within two seconds. @throws Problem not_found, conflict. */
async function moveConsumer(ctx: Context, name: string, trigger: 'pause' | 'resume', reason: string | null): Promise<EventConsumer> {
  const consumer = await lockConsumer(ctx, name);
  const status = nextStatus(consumer, trigger);
  const version = consumer.version + 1;
  const pausedReason = trigger === 'pause' ? reason : null;
  await ctx.sql(MOVE, [name, status, pausedReason, version]);
  ctx.audit(`consumer.${trigger}d`, name, { status, ...(reason && { reason }) });
  return Object.assign(consumer, { status, pausedReason, version });
}

/** Its events wait in its queue. @throws Problem not_found, conflict. */
export const pauseConsumer = (ctx: Context, name: string, reason: string | null): Promise<EventConsumer> =>
  moveConsumer(ctx, name, 'pause', reason);

/** What waited is handled in order. @throws Problem not_found, conflict. */
export const resumeConsumer = (ctx: Context, name: string, reason: string | null): Promise<EventConsumer> =>
  moveConsumer(ctx, name, 'resume', reason);

async function attachedOf(ctx: Context, name: string): Promise<Attached> {
  const [row] = await ctx.sql<Attached>(ATTACHED, [name]);
  return row!;
}

/** Changes the status in a transaction of its own, because the broker is asked outside of it. */
const change = (
  ctx: Context,
  name: string,
  { trigger, reason }: { trigger: ConsumerTrigger; reason: string | null },
  run: (tx: Context, consumer: EventConsumer) => Promise<void>,
): Promise<void> =>
  ctx.host.transaction(async tx => {
    const consumer = await lockConsumer(tx, name);
    const status = nextStatus(consumer, trigger);
    await run(tx, consumer);
    await tx.sql('update events.consumer set status = $2, paused_reason = null, version = version + 1 where name = $1', [name, status]);
    tx.audit(`consumer.${trigger}ed`, name, { from: consumer.status, ...(reason && { reason }) });
  }, ctx.request);

/**
 * Takes a consumer off the stream and notes from where it must be fed one day. Where its queues cannot be removed it is as it was before.
 * @throws Problem not_found, conflict, unavailable.
 */
export async function detachConsumer(ctx: Context, name: string, reason: string | null): Promise<EventConsumer> {
  let before: ConsumerStatus = 'active';
  await change(ctx, name, { trigger: 'detach', reason }, async (_tx, consumer) => void (before = consumer.status));
  try {
    await notePosition(ctx, name);
  } catch (error) {
    ctx.log.warn({ err: loggedError(error), consumer: name }, 'a consumer could not be detached');
    await ctx.host.transaction(async tx => {
      await tx.sql(`update events.consumer set status = $2, version = version + 1 where name = $1 and status = 'detached'`, [name, before]);
      tx.audit('consumer.detach_failed', name);
    }, ctx.request);
    fail('unavailable', 'The queues of the consumer cannot be removed now', { retryAfter: 10 });
  }
  return (await consumerOf(ctx, name))!;
}

const NOTE_POSITION = `update events.consumer set position = $2, upto = null where name = $1 and status = 'detached'`;

/** Removes the queues, then notes the position before the oldest event in them; one that is being fed has not more than its own position. */
async function notePosition(ctx: Context, name: string): Promise<void> {
  const { spec, position } = await attachedOf(ctx, name);
  const waiting = await ctx.host.transport.detach(spec);
  await ctx.host.transaction(async tx => {
    const [oldest] = await tx.sql<{ at: string }>(OLDEST, [waiting]);
    const mark = await positionBefore(tx.sql, after(new Date(oldest!.at), -MARGIN_MS));
    await tx.sql(NOTE_POSITION, [name, earlierOf(mark, position)]);
    await tx.sql('delete from events.consumer_partition where consumer = $1', [name]);
    tx.audit('consumer.position_noted', name, { waiting: waiting.length });
  }, ctx.request);
}

const isDropped = (position: LogPosition, floor: LogPosition): boolean => position.some((at, group) => at < floor[group]!);

/**
 * Lets a consumer be fed from where it was, and then live. Its processes do it as soon as they see it.
 * @throws Problem not_found, conflict.
 */
export async function attachConsumer(ctx: Context, name: string, reason: string | null): Promise<EventConsumer> {
  const consumer = await ctx.host.read(async one => attachedOf(one, name));
  if (consumer?.status === 'detached' && consumer.position === null) await notePosition(ctx, name); // whoever detached it did not get that far
  await change(ctx, name, { trigger: 'attach', reason }, async tx => {
    const { position } = await attachedOf(tx, name);
    if (!position || isDropped(position, await floorOfLog(tx.sql)))
      fail('conflict', 'The consumer is detached, and the log no longer has all that it has missed');
  });
  return (await consumerOf(ctx, name))!;
}
