import { z } from 'zod';
import { labResultCritical } from '../../../../events/catalogue/clinical.js';
import { after, DAY_MS, MINUTE_MS } from '../../../../runtime/time/durations.js';
import { notifyRole } from '../notices.js';
import { criticalAlertStatus } from '../../ports/clinical.js';
import { defineWorkflow, type StepContext } from '../../ports/workflow.js';
import { CONFIRMATION } from './forms.js';

const ASK_SECONDS = 30;
const PAGES = 6;
const PAGE_MS = 30 * MINUTE_MS;
/** After the last page it is asked on for so long; then the run fails, which is an alarm of its own. */
const LAST_MS = DAY_MS;

/** One that is gone (erased) needs nobody any more. */
const ENDED: readonly (string | null)[] = ['ACKNOWLEDGED', 'CLOSED', null];

const acknowledged = (alertId: string) => async (step: StepContext) => {
  const status = await criticalAlertStatus(step, alertId);
  return ENDED.includes(status) ? { status: status ?? 'GONE' } : null;
};

const page = (alertId: string, number: number) => async (step: StepContext) => {
  await step.once(ctx =>
    notifyRole(ctx, 'clinician', { template: 'critical_lab_page', params: { alert_id: alertId, number }, category: 'clinical' }),
  );
  return { number };
};

/**
 * Clinicians acknowledge in clinical; the run asks until they have. Past the time to acknowledge it becomes the admins' task, and the
 * clinicians are paged every half hour, six times. Source: workflow 3.
 */
export const criticalLabEscalation = defineWorkflow({
  key: 'critical_lab_escalation',
  title: 'Escalation of a critical lab result',
  version: 1,
  owner: 'clinical',
  steps: ['await_acknowledgement', 'page'],
  timeoutDays: 3,
  maxConcurrent: 20,
  input: z.object({ alert_id: z.uuid(), acknowledge_by: z.iso.datetime() }),
  events: [
    {
      on: labResultCritical,
      keyExpr: '{data.alert_id}',
      input: ({ data }) => ({ alert_id: data.alert_id, acknowledge_by: data.acknowledge_by }),
    },
  ],
  async run(workflow, { alert_id: alertId, acknowledge_by: acknowledgeBy }) {
    const due = new Date(acknowledgeBy);
    const asked = (until: Date, orFail?: string) =>
      workflow.poll('await_acknowledgement', acknowledged(alertId), { everySeconds: ASK_SECONDS, until, orFail });
    const subject = { type: 'critical_alert', id: alertId };
    const task = { title: 'Acknowledge a critical lab result', kind: 'critical_lab', subject, form: CONFIRMATION };
    await workflow.openTask({ ...task, assigneeRole: 'clinician', dueAt: due });
    let end = await asked(due);
    if (!end) await workflow.openTask({ ...task, assigneeRole: 'admin', dueAt: after(due, PAGES * PAGE_MS) });
    let pages = 0;
    while (!end && pages < PAGES) {
      await workflow.step('page', page(alertId, ++pages));
      end = await asked(after(due, pages * PAGE_MS));
    }
    end ??= await asked(after(due, PAGES * PAGE_MS + LAST_MS), 'not_acknowledged');
    return { alert_status: end!.status.toLowerCase(), pages };
  },
});
