import { z } from 'zod';
import { consultCompleted, redFlagDetected } from '../../../../events/catalogue/clinical.js';
import { partnerConsultOutcome } from '../../../../events/catalogue/partner.js';
import { after, DAY_MS, HOUR_MS } from '../../../../runtime/time/durations.js';
import { notifyUser } from '../notices.js';
import { hasVisit } from '../../ports/booking.js';
import { redFlagStatus } from '../../ports/clinical.js';
import { defineWorkflow, type StepContext } from '../../ports/workflow.js';
import { CONFIRMATION } from './forms.js';

const ASK_SECONDS = 60;
const LATE_ASK_SECONDS = 900;

/** Asks comms for a message to the member of the run, once. */
const message = (template: string, params: Record<string, string>) => async (step: StepContext) => {
  await step.once(ctx => notifyUser(ctx, step.userId!, { template, params, category: 'clinical', dedupeKey: `${template}:${step.runId}` }));
  return null;
};

const TIME_TO_ACKNOWLEDGE: Readonly<Record<string, number>> = { urgent: 2 * HOUR_MS, warning: DAY_MS };
/** A flag that nobody acknowledges in time is asked after for so long; then the run fails. */
const LATE_MS = 7 * DAY_MS;
const OVER: readonly string[] = ['RESOLVED', 'DISMISSED', 'GONE'];

const flagState = (flagId: string) => async (step: StepContext) => ({ status: (await redFlagStatus(step, flagId)) ?? 'GONE' });
const flagSeen = (flagId: string) => async (step: StepContext) => {
  const state = await flagState(flagId)(step);
  return state.status === 'OPEN' ? null : state;
};

/** Warnings within a day, urgent ones within two hours; the member hears of it once a clinician has seen it. Source: workflow 3. */
export const redFlagFollowUp = defineWorkflow({
  key: 'red_flag_followup',
  title: 'Follow-up of a red flag',
  version: 1,
  owner: 'clinical',
  steps: ['await_acknowledgement', 'tell_member', 'check_again'],
  timeoutDays: 30,
  maxConcurrent: 20,
  input: z.object({ flag_id: z.uuid(), due_at: z.iso.datetime() }),
  events: [
    {
      on: redFlagDetected,
      keyExpr: '{data.flag_id}',
      filter: { severity: Object.keys(TIME_TO_ACKNOWLEDGE) },
      input: ({ data }) => ({
        flag_id: data.flag_id,
        due_at: after(new Date(data.detected_at), TIME_TO_ACKNOWLEDGE[data.severity]!).toISOString(),
      }),
    },
  ],
  async run(workflow, { flag_id: flagId, due_at: dueAt }) {
    const due = new Date(dueAt);
    const subject = { type: 'red_flag', id: flagId };
    const task = { kind: 'red_flag', subject, assigneeRole: 'clinician', form: CONFIRMATION };
    await workflow.openTask({ ...task, title: 'Acknowledge a red flag', dueAt: due });
    const asked = (everySeconds: number, until: Date, orFail?: string) =>
      workflow.poll('await_acknowledgement', flagSeen(flagId), { everySeconds, until, orFail });
    const seen = (await asked(ASK_SECONDS, due)) ?? (await asked(LATE_ASK_SECONDS, after(due, LATE_MS), 'not_acknowledged'))!;
    if (seen.status === 'DISMISSED' || seen.status === 'GONE') return { flag_status: seen.status.toLowerCase() };
    await workflow.step('tell_member', message('red_flag_follow_up', { flag_id: flagId }));
    await workflow.sleepUntil(after(await workflow.now(), 7 * DAY_MS));
    const { status } = await workflow.step('check_again', flagState(flagId));
    if (!OVER.includes(status))
      await workflow.waitTask({ ...task, title: 'A red flag is still open after a week', dueAt: after(await workflow.now(), DAY_MS) });
    return { flag_status: status.toLowerCase() };
  },
});

/** Any visit from the completed consult to the end of the day on which the next one is due. */
const booked = (from: Date, due: Date) => (step: StepContext) => hasVisit(step, from, after(due, DAY_MS));

/**
 * A week before a follow-up is due the member is reminded unless a visit is booked; one that is missed becomes the care team's task.
 * While booking cannot be asked, it counts as not booked. A partner's outcome names no day, so it has none.
 * Source: workflow 3.
 */
export const consultFollowUp = defineWorkflow({
  key: 'consult_followup',
  title: 'Follow-up of a consult',
  version: 1,
  owner: 'booking',
  steps: ['ask_booking', 'remind', 'ask_again'],
  timeoutDays: 800,
  maxConcurrent: 20,
  input: z.object({ consult_id: z.string().max(128), completed_at: z.iso.datetime(), due_on: z.iso.date().nullable() }),
  events: [
    {
      on: consultCompleted,
      keyExpr: '{data.consult_id}',
      input: ({ data }) => ({ consult_id: data.consult_id, completed_at: data.completed_at, due_on: data.follow_up_due_on }),
    },
    {
      on: partnerConsultOutcome,
      keyExpr: 'partner:{data.consult_ref}',
      input: ({ data, occurred_at: at }) => ({ consult_id: data.consult_ref, completed_at: at, due_on: null }),
    },
  ],
  async run(workflow, { consult_id: consultId, completed_at: completedAt, due_on: dueOn }) {
    if (dueOn === null) return { outcome: 'no_follow_up' };
    const due = new Date(`${dueOn}T00:00:00.000Z`);
    const ask = booked(new Date(completedAt), due);
    await workflow.sleepUntil(after(due, -7 * DAY_MS));
    if ((await workflow.step('ask_booking', ask)).booked) return { outcome: 'booked' };
    await workflow.step('remind', message('consult_follow_up', { consult_id: consultId, due_on: dueOn }));
    await workflow.sleepUntil(after(due, DAY_MS));
    if ((await workflow.step('ask_again', ask)).booked) return { outcome: 'booked_after_reminder' };
    const decided = await workflow.waitTask({
      title: 'A follow-up consult was missed',
      kind: 'missed_follow_up',
      subject: { type: 'consult', id: consultId },
      assigneeRole: 'clinician',
      dueAt: after(due, 4 * DAY_MS),
      form: CONFIRMATION,
    });
    return { outcome: decided ? 'missed_and_handled' : 'missed' };
  },
});
