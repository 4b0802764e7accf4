import type { EventDefinition } from '../../../events/define.js';
import { consultCompleted, labResultCritical, protocolStarted, redFlagDetected } from '../../../events/catalogue/clinical.js';
import { screeningStatusChanged, teamChatCommandReceived } from '../../../events/catalogue/messaging.js';
import { partnerConsultOutcome } from '../../../events/catalogue/partner.js';
import { handle, type Consumer, type Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { WorkflowTriggerKind } from '../entities/enums.js';
import { tell } from '../ports/words.js';
import type { EventTrigger, WorkflowDefinitionCode } from '../ports/workflow.js';
import { start } from '../commands/starting.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';

/** The key by which runs wait for an event of a type; a type that stands here can start and resume runs. */
const KEYS: readonly [EventDefinition, (data: any) => string][] = [
  [labResultCritical, data => data.alert_id],
  [redFlagDetected, data => data.flag_id],
  [consultCompleted, data => data.consult_id],
  [partnerConsultOutcome, data => data.consult_ref],
  [protocolStarted, data => data.protocol_id],
  [teamChatCommandReceived, data => data.command_id],
  [screeningStatusChanged, data => data.conversation_id],
];

/** A run that begins to wait later than this after the event does not hear it. */
const HEARD_DAYS = 35;
const SWEPT = 100;

const triggersOf = (name: string): { definition: WorkflowDefinitionCode; trigger: EventTrigger }[] =>
  [...DEFINITIONS.values()].flatMap(definition =>
    (definition.events ?? []).filter(trigger => trigger.on.name === name).map(trigger => ({ definition, trigger })),
  );

const valueAt = (event: object, path: string): string => path.split('.').reduce((at: any, name) => at[name], event);

const keyOf = ({ keyExpr }: EventTrigger, event: Envelope<any>): string =>
  keyExpr.replace(/\{([^}]+)\}/g, (_, path: string) => valueAt(event, path));

const passes = ({ filter = {} }: EventTrigger, { data }: Envelope<any>): boolean =>
  Object.entries(filter).every(([field, values]) => values.includes(data[field]));

/** One run for a key, however often the event comes, or another one of the same key. Source: workflow 7.3. */
async function begin(ctx: Context, event: Envelope<any>): Promise<void> {
  const found = triggersOf(event.type);
  const enabled = await ctx.sql<{ key: string }>('select key from workflow.workflow_definition where enabled and key = any($1)', [
    found.map(one => one.definition.key),
  ]);
  for (const { definition, trigger } of found) {
    if (!enabled.some(one => one.key === definition.key) || !passes(trigger, event)) continue;
    const parsed = definition.input.strict().parse(trigger.input(event));
    await start(ctx, definition, keyOf(trigger, event), {
      trigger: WorkflowTriggerKind.EVENT,
      input: parsed,
      userId: event.user_id,
      causeId: event.id,
    });
  }
}

/** Said to the runs that wait for it, and kept for those that will. */
async function resume(ctx: Context, event: Envelope<any>, key: string): Promise<void> {
  await ctx.sql(
    `insert into workflow.heard_event (event_id, name, key, user_id, payload, heard_at) values ($1, $2, $3, $4, $5::jsonb, $6) on conflict do nothing`,
    [event.id, event.type, key, event.user_id, JSON.stringify(event.data), ctx.now().toISOString()],
  );
  await tell(ctx, event.type, key, event.data, event.id);
  await ctx.sql(
    `delete from workflow.heard_event where event_id in (select event_id from workflow.heard_event
       where heard_at < $1::timestamptz - interval '${HEARD_DAYS} days' order by heard_at limit ${SWEPT})`,
    [ctx.now().toISOString()],
  );
}

export const consumers: readonly Consumer<Context>[] = [
  {
    name: 'workflow.triggers',
    on: KEYS.map(([definition, waitKeyOf]) =>
      handle(definition, async (ctx: Context, event) => {
        await begin(ctx, event);
        await resume(ctx, event, waitKeyOf(event.data));
      }),
    ),
  },
];
