import type { Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { WorkflowTriggerKind } from '../entities/enums.js';
import type { EventTrigger, WorkflowDefinitionCode } from '../ports/workflow.js';
import { DEFINITIONS } from './definitions/definitions.js';
import { sendToWaiting } from './messages.js';
import { start } from './starting.js';

/** An event that came longer ago is not found by a run that begins to wait. */
const KEPT_DAYS = 35;
/** Old events that one new event sweeps away. */
const SWEPT = 100;

interface Triggered {
  definition: WorkflowDefinitionCode;
  trigger: EventTrigger;
}

const triggeredBy = (type: string): Triggered[] =>
  [...DEFINITIONS.values()].flatMap(definition =>
    (definition.events ?? []).filter(trigger => trigger.on.name === type).map(trigger => ({ definition, trigger })),
  );

const valueAt = (event: object, path: string): string => path.split('.').reduce((at: any, name) => at[name], event);

const keyOf = ({ keyExpr }: EventTrigger, event: Envelope<any>): string =>
  keyExpr.replace(/\{([^}]+)\}/g, (_, path: string) => valueAt(event, path));

const passes = ({ filter = {} }: EventTrigger, { data }: Envelope<any>): boolean =>
  Object.entries(filter).every(([field, values]) => values.includes(data[field]));

/** Starts the runs of an event: one for a key, however often the event comes, or another one of the same key. Source: workflow 7.3. */
export async function startForEvent(ctx: Context, event: Envelope<any>): Promise<void> {
  const found = triggeredBy(event.type);
  const enabled = await ctx.sql<{ key: string }>('select key from workflow.workflow_definition where enabled and key = any($1)', [
    found.map(one => one.definition.key),
  ]);
  const wanted = found.filter(one => enabled.some(({ key }) => key === one.definition.key) && passes(one.trigger, event));
  for (const { definition, trigger } of wanted)
    await start(ctx, definition, keyOf(trigger, event), {
      trigger: WorkflowTriggerKind.EVENT,
      input: definition.input.strict().parse(trigger.input(event)),
      userId: event.user_id,
      causeId: event.id,
    });
}

/** Sends an event to the runs that wait for it, and keeps it for those that will. */
export async function resumeForEvent(ctx: Context, event: Envelope<any>, key: string): Promise<void> {
  await ctx.sql(
    `insert into workflow.heard_event (event_id, name, key, user_id, payload, heard_at) values ($1, $2, $3, $4, $5::jsonb, $6) on conflict do nothing`,
    [event.id, event.type, key, event.user_id, JSON.stringify(event.data), ctx.now().toISOString()],
  );
  await sendToWaiting(ctx, event.type, key, event.data, event.id);
  await ctx.sql(
    `delete from workflow.heard_event where event_id in (select event_id from workflow.heard_event
       where heard_at < $1::timestamptz - interval '${KEPT_DAYS} days' order by heard_at limit ${SWEPT})`,
    [ctx.now().toISOString()],
  );
}
