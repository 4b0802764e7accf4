import { platformCanary } from '../../../events/catalogue/platform.js';
import { workflowCanary } from '../../../events/catalogue/workflow.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { receiveCanary, receiveWorkflowCanary } from '../commands/canary.js';

const back = handle(platformCanary, (ctx: Context, { data }) => receiveCanary(ctx, data.probe_id));
const through = handle(workflowCanary, (ctx: Context, { data }) => receiveWorkflowCanary(ctx, data.probe_id, new Date(data.sent_at)));

/** Two queues, so that a workflow's probe does not wait behind the bus's. */
export const canaryConsumers: readonly Consumer<Context>[] = [
  { name: 'platform.canary', on: [back] },
  { name: 'platform.workflow_canary', on: [through] },
];
