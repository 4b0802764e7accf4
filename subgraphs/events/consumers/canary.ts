import { platformCanary } from '../../../events/catalogue/platform.js';
import { workflowCanary } from '../../../events/catalogue/workflow.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { noteRoundtrip } from '../commands/roundtrips.js';

/** The way of a probe over the whole bus and back. Source: events 5. */
export const canaryConsumer: Consumer<Context> = {
  name: 'events.canary',
  partitions: 1,
  on: [handle(platformCanary, noteRoundtrip), handle(workflowCanary, noteRoundtrip)],
};
