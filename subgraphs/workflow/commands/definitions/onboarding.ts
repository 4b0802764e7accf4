import { z } from 'zod';
import { protocolStarted } from '../../../../events/catalogue/clinical.js';
import { DAY_MS } from '../../../../runtime/time/durations.js';
import { notifyUser } from '../notices.js';
import { interventionStatus } from '../../ports/clinical.js';
import { defineWorkflow, type StepContext } from '../../ports/workflow.js';
import { CONFIRMATION } from './forms.js';

const ASK_SECONDS = 3600;

const message = (template: string, protocolId: string) => async (step: StepContext) => {
  const dedupeKey = `${template}:${protocolId}`;
  await step.once(ctx => notifyUser(ctx, step.userId!, { template, params: { protocol_id: protocolId }, category: 'clinical', dedupeKey }));
  return null;
};

/** Answers once the protocol no longer runs. */
const ended = (protocolId: string) => async (step: StepContext) => {
  const status = (await interventionStatus(step, protocolId)) ?? 'GONE';
  return status === 'ACTIVE' ? null : { status };
};

/**
 * The first week of a protocol: a welcome, the first check-in after a day, on day 7 a look at adherence by a clinician, who sees it in
 * clinical. Ends within the hour when the protocol no longer runs. Source: workflow 3.
 */
export const protocolOnboarding = defineWorkflow({
  key: 'protocol_onboarding',
  title: 'First week of a protocol',
  version: 1,
  owner: 'clinical',
  steps: ['welcome', 'first_day', 'first_check_in', 'first_week', 'adherence'],
  timeoutDays: 14,
  maxConcurrent: 20,
  input: z.object({ protocol_id: z.uuid() }),
  events: [{ on: protocolStarted, keyExpr: '{data.protocol_id}', input: ({ data }) => ({ protocol_id: data.protocol_id }) }],
  async run(workflow, { protocol_id: protocolId }) {
    const begin = (await workflow.now()).getTime();
    const endBefore = (name: string, until: number) =>
      workflow.poll(name, ended(protocolId), { everySeconds: ASK_SECONDS, until: new Date(until) });
    await workflow.step('welcome', message('protocol_welcome', protocolId));
    let end = await endBefore('first_day', begin + DAY_MS);
    if (end) return { outcome: 'ended', intervention_status: end.status.toLowerCase() };
    await workflow.step('first_check_in', message('protocol_first_check_in', protocolId));
    end = await endBefore('first_week', begin + 7 * DAY_MS);
    if (end) return { outcome: 'ended', intervention_status: end.status.toLowerCase() };
    const dueAt = new Date(begin + 9 * DAY_MS);
    await workflow.openTask({
      title: 'Look at adherence on day 7',
      kind: 'adherence',
      subject: { type: 'intervention', id: protocolId },
      assigneeRole: 'clinician',
      dueAt,
      form: CONFIRMATION,
    });
    end = await endBefore('adherence', dueAt.getTime());
    return { outcome: end ? 'ended' : 'completed' };
  },
});
