import { prepared } from '../../../events/prepared.js';
import { writeAudited } from '../../../runtime/data/audit.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { after } from '../../../runtime/time/durations.js';
import { ProcessorEventStatus as Status } from '../entities/enums-operations.js';
import type { PaymentProcessor } from '../entities/enums-payment.js';
import { ProcessorEvent } from '../entities/processor-event.js';
import type { ProcessorNotice } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { EVENT_LEASE_MS, retryMs } from '../rules/processor-event.js';
import { ProcessorSilent, reread, type Apply } from './processor-object.js';

/** Longest name of a type that is kept. */
const MAX_TYPE = 100;
const sealContext = (id: string): string => `processor_event_body:${id}`;

const INSERT = `insert into payments.processor_event
    (id, processor, processor_event_id, type, object_ref, body_sealed, status, attempts, received_at, processed_at, next_attempt_at)
  values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10) on conflict (processor, processor_event_id) do nothing returning id`;

/**
 * Keeps a verified call of the processor, in a transaction of its own; one that is known already changes nothing. @returns the id of a new
 * one that is to be handled by this process now, null for one that is not. Source: payments 4.5.
 */
export async function keepNotice(
  ctx: Context,
  processor: PaymentProcessor,
  notice: ProcessorNotice,
  rawBody: Buffer,
): Promise<string | null> {
  const [id, now, { object }] = [newId(), ctx.now(), notice];
  const isOurs = object !== null;
  const type = notice.type.slice(0, MAX_TYPE);
  const values = [
    id,
    processor,
    notice.id.slice(0, 255),
    type,
    isOurs ? `${object.kind}:${object.id}` : null,
    ctx.host.sealer.seal(rawBody.toString('base64'), sealContext(id)),
    isOurs ? Status.RECEIVED : Status.IGNORED,
    now.toISOString(),
    isOurs ? null : now.toISOString(),
    isOurs ? after(now, EVENT_LEASE_MS).toISOString() : null,
  ];
  const rows = await writeAudited(ctx, INSERT, values, [{ action: 'processor_event.received', target: id, details: { processor, type } }]);
  return rows.length > 0 && isOurs ? id : null;
}

const KEEP = prepared(`update payments.processor_event set next_attempt_at = $2 where id = any($1) and status in ('received', 'failed')`);

/** Keeps the lease of calls up that this process has taken and not handled yet. */
export const keepEvents = (host: ServiceHost, ids: readonly string[]): Promise<unknown> =>
  host.transaction(ctx => ctx.sql(KEEP, [ids, after(ctx.now(), EVENT_LEASE_MS).toISOString()]));

/** What the kept body says, as it is understood today. */
function noticeOf({ host }: Context, event: ProcessorEvent): ProcessorNotice | null {
  const body = event.bodySealed && Buffer.from(host.sealer.open(event.bodySealed, sealContext(event.id)), 'base64');
  return body && processorOf(host).parseNotice(body);
}

const FINISHED: readonly Status[] = [Status.PROCESSED, Status.IGNORED];

export type Handled = 'changed' | 'unchanged' | 'failed';

interface Handling {
  /** Also one that is finished. */
  again?: boolean;
  /** What it says, where that is known; else its body is read. */
  notice?: ProcessorNotice;
}

const NOTE = `update payments.processor_event set status = $2, processed_at = $3, next_attempt_at = null, error = null,
  attempts = attempts + 1 where id = $1 and ($4 or status not in ('processed', 'ignored')) returning id`;

/** Applies what a call says, if anything, and notes that it is handled; not one that is finished. */
async function handleIn(ctx: Context, id: string, status: Status, again: boolean, apply: Apply | null): Promise<Handled> {
  const action = 'processor_event.handled';
  const values = [id, status, ctx.now().toISOString(), again];
  if (apply === null) {
    await writeAudited(ctx, NOTE, values, [{ action, target: id, details: { changed: false } }]);
    return 'unchanged';
  }
  const noted = await ctx.sql(prepared(NOTE), values);
  if (noted.length === 0) return 'unchanged';
  const isChanged = await apply(ctx);
  ctx.audit(action, id, { changed: isChanged });
  return isChanged ? 'changed' : 'unchanged';
}

/**
 * Handles a kept call: its object is read again, outside any transaction, and applied under the row's lock together with the event's new
 * state. What fails is tried again later. Never throws. Source: payments 4.5, 7.6.
 */
export async function handleEvent(host: ServiceHost, id: string, { again = false, notice: known }: Handling = {}): Promise<Handled> {
  try {
    const notice = known ?? (await host.read(async ctx => noticeOf(ctx, await requireOurs(ctx, id))));
    const apply = notice?.object ? await reread(host, notice.object) : null;
    const status = notice?.object ? Status.PROCESSED : Status.IGNORED;
    return await host.transaction(ctx => handleIn(ctx, id, status, again, apply));
  } catch (error) {
    await fail(host, id, error).catch(cause => host.log.error({ err: loggedError(cause), event: id }, 'a failure could not be noted'));
    return 'failed';
  }
}

/** The event, if it is of the processor that is chosen today. */
async function requireOurs(ctx: Context, id: string): Promise<ProcessorEvent> {
  const event = await requireRow(ctx, ProcessorEvent, { id });
  if (event.processor !== processorOf(ctx.host).name) throw new ProcessorSilent('processor_not_configured');
  return event;
}

/** A word for the list; messages may repeat what is nobody's business. */
function wordOf(error: unknown): string {
  if (error instanceof ProcessorSilent) return error.message;
  return error instanceof Problem ? error.code : 'internal';
}

async function fail(host: ServiceHost, id: string, error: unknown): Promise<void> {
  if (!(error instanceof ProcessorSilent))
    host.log.error({ err: loggedError(error), event: id }, 'a call of the processor could not be handled');
  await host.transaction(async ctx => {
    const event = await lockRow(ctx, ProcessorEvent, { id });
    if (FINISHED.includes(event.status)) return;
    event.attempts += 1;
    const wait = retryMs(event.attempts);
    const status = wait === null ? Status.DEAD : Status.FAILED;
    Object.assign(event, { status, error: wordOf(error), nextAttemptAt: wait === null ? null : after(ctx.now(), wait) });
    ctx.audit('processor_event.failed', id, { error: event.error, attempts: event.attempts });
    if (status === Status.DEAD) alert(ctx, event);
  });
}

function alert(ctx: Context, event: ProcessorEvent): void {
  const params = { event_id: event.id, type: event.type, error: event.error! };
  const message = { template: 'processor_event_dead', params, dedupeKey: `processor_event_dead:${event.id}` };
  requestMessage(ctx, { staffRole: 'developer' }, message);
}
