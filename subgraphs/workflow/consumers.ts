import { consultCompleted, labResultCritical, protocolStarted, redFlagDetected } from '../../events/catalogue/clinical.js';
import { screeningStatusChanged, teamChatCommandReceived } from '../../events/catalogue/messaging.js';
import { partnerConsultOutcome } from '../../events/catalogue/partner.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { EventDefinition } from '../../events/define.js';
import type { Context } from '../../runtime/request/context.js';
import { resumeForEvent, startForEvent } from './commands/events.js';

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

const handlers = KEYS.map(([definition, keyOf]) =>
  handle(definition, async (ctx: Context, event) => {
    await startForEvent(ctx, event);
    await resumeForEvent(ctx, event, keyOf(event.data));
  }),
);

export const consumers: readonly Consumer<Context>[] = [{ name: 'workflow.triggers', on: handlers }];
