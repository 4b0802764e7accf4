import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { consultCompleted, labResultCritical, protocolStarted, redFlagDetected } from '../../events/catalogue/clinical.js';
import { screeningStatusChanged, teamChatCommandReceived } from '../../events/catalogue/messaging.js';
import { partnerConsultOutcome } from '../../events/catalogue/partner.js';
import { ADMIN, DEMO } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, T0 } from '../clinical/clinic.js';
import { Orchestrator } from './fixture.js';

let clinic: Clinic;
let workflow: Orchestrator;

beforeAll(async () => {
  clinic = await Clinic.open(T0, { services: ['clinical', 'workflow', 'intelligence'] }); // the loop asks intelligence each hour
  workflow = await Orchestrator.open(clinic.p, T0);
}, 300_000);

afterEach(async () => {
  await clinic.leave(); // what was about them has nobody to be about, and ends when it asks next
  await workflow.clock({ advance: 'PT15M' });
});

/** The run that an event of the key has started. */
const runOf = (definition: string, key: string): Promise<any> =>
  until(
    `a run of ${definition}`,
    async () => (await workflow.runsOf(definition)).find(run => run.key === key && run.status !== 'pending' && run.status !== 'running'),
    Boolean,
  );
const statuses = async (run: string): Promise<[string | null, string][]> =>
  (await workflow.tasks(run)).map(task => [task.assignee_role, task.status]);
const now = async (): Promise<Date> => (await clinic.p.sql('select now from workflow.test_clock'))[0].now;

async function panic(patient: string): Promise<any> {
  await clinic.post(patient, { code: 'potassium', value: 6.6, collectedAt: T0 });
  return (await clinic.rest('GET', `/v1/critical-alerts?user_id=${patient}`)).body.data[0];
}
const acknowledge = (kind: string, id: string) => clinic.rest('POST', `/v1/${kind}/${id}/acknowledge`);

describe('critical_lab_escalation', () => {
  test('critical alert unacknowledged at acknowledge_by → second task; acknowledged in clinical → run SUCCEEDED ≤ 60 s, tasks CANCELLED', async () => {
    const alert = await panic(clinic.stranger());
    const run = await runOf('critical_lab_escalation', alert.id);
    expect(run).toMatchObject({ status: 'waiting', trigger: 'event', input: { alert_id: alert.id } });
    expect(await statuses(run.id)).toEqual([['clinician', 'open']]);
    const tasks = (await clinic.p.rest('GET', '/workflow/v1/tasks', { token: workflow.token })).body.data;
    expect(tasks.find((task: any) => task.run_id === run.id)).toMatchObject({ subject: { type: 'critical_alert', id: alert.id } });
    await workflow.clock({ now: alert.acknowledge_by });
    expect(await statuses(run.id)).toEqual([
      ['clinician', 'expired'],
      ['admin', 'open'],
    ]);
    await workflow.clock({ advance: 'PT29M30S' });
    const pages = async () => (await workflow.messages('critical_lab_page')).filter(page => page.alert_id === alert.id);
    expect(await pages()).toEqual([{ user: null, role: 'clinician', alert_id: alert.id, number: 1 }]);
    await workflow.clock({ advance: 'PT30S' });
    expect((await pages()).map(page => page.number)).toEqual([1, 2]);
    expect((await acknowledge('critical-alerts', alert.id)).status).toBe(200);
    await workflow.clock({ advance: 'PT1M' });
    expect(await workflow.run(run.id)).toMatchObject({ status: 'succeeded', output: { alert_status: 'acknowledged', pages: 2 } });
    expect((await statuses(run.id)).map(([, status]) => status)).toEqual(['expired', 'cancelled']);
    expect((await workflow.steps(run.id)).map(step => [step.name, step.status])).toEqual([
      ['await_acknowledgement', 'succeeded'],
      ['page', 'succeeded'],
      ['await_acknowledgement', 'succeeded'],
      ['page', 'succeeded'],
      ['await_acknowledgement', 'succeeded'],
    ]);
    expect(await workflow.messages('workflow_task_overdue')).toHaveLength(1);
  }, 180_000);

  test('the event repeated for an alert starts nothing; the alert shows its run, and the run its tasks and its person', async () => {
    const patient = clinic.stranger();
    const alert = await panic(patient);
    const run = await runOf('critical_lab_escalation', alert.id);
    const data = {
      alert_id: alert.id,
      observation_id: alert.observation_id,
      code: 'potassium',
      severity: 'panic',
      acknowledge_by: alert.acknowledge_by,
    };
    await workflow.tell(labResultCritical, data as never, patient, 2);
    await until(
      'both to be heard',
      () => clinic.p.sql('select 1 from workflow.heard_event where key = $1', [alert.id]),
      rows => rows.length === 3,
    );
    expect((await workflow.runsOf('critical_lab_escalation')).filter(one => one.key === alert.id)).toHaveLength(1);
    const alerts = await clinic.p.graphql(
      `query($user: ID!) { criticalAlerts(userId: $user) { nodes { id workflowRun { id status } } } }`,
      { user: patient },
      { token: workflow.token },
    );
    expect(alerts.data.criticalAlerts.nodes).toEqual([{ id: alert.id, workflowRun: { id: run.id, status: 'WAITING' } }]);
    await acknowledge('critical-alerts', alert.id);
    await workflow.clock({ advance: 'PT1M' });
    expect(await workflow.run(run.id)).toMatchObject({ status: 'succeeded', output: { alert_status: 'acknowledged' } });
  }, 60_000);
});

describe('red_flag_followup', () => {
  const flag = async (patient: string) => (await clinic.rest('GET', `/v1/red-flags?user_id=${patient}`)).body.data[0];
  async function flagged(): Promise<any> {
    const patient = clinic.stranger();
    await clinic.post(patient, { code: 'hba1c', value: 7.2, collectedAt: T0 });
    return { patient, ...(await flag(patient)) };
  }

  test('a clinician task, a member message after acknowledgement, a check again after 7 d', async () => {
    const { id, patient } = await flagged();
    const run = await runOf('red_flag_followup', id);
    expect(
      await clinic.p.sql('select assignee_role, due_at - created_at as time from workflow.workflow_task where run_id = $1', [run.id]),
    ).toMatchObject([{ assignee_role: 'clinician' }]);
    expect(await workflow.messages('red_flag_follow_up')).toEqual([]);
    await acknowledge('red-flags', id);
    await workflow.clock({ advance: 'PT1M' });
    const sent = await until(
      'the message',
      () => workflow.messages('red_flag_follow_up'),
      all => all.length > 0,
    );
    expect(sent).toEqual([{ user: patient, role: null, flag_id: id }]);
    await workflow.clock({ advance: 'P7D' });
    expect(await workflow.run(run.id)).toMatchObject({ status: 'waiting', waiting_for: { kind: 'task' } });
    const open = (await workflow.tasks(run.id)).find(task => task.status === 'open')!;
    expect((await workflow.call('POST', `/tasks/${open.id}/complete`, { result: { done: true } })).status).toBe(200);
    expect(await workflow.reaches(run.id, 'succeeded')).toMatchObject({ output: { flag_status: 'acknowledged' } });
  }, 120_000);

  test.each([
    ['info', null],
    ['warning', 24],
    ['urgent', 2],
  ] as const)('of severity %s is due after %s hours', async (severity, hours) => {
    const id = randomUUID();
    const detected = await now();
    await workflow.tell(
      redFlagDetected,
      { flag_id: id, rule: 'x', severity, source: 'biomarker', detected_at: detected.toISOString() },
      DEMO,
    );
    await until(
      'the event',
      () => clinic.p.sql('select 1 from workflow.heard_event where key = $1', [id]),
      rows => rows.length === 1,
    );
    const run = (await workflow.runsOf('red_flag_followup')).find(one => one.key === id);
    expect(run?.input.due_at ?? null).toBe(hours && new Date(detected.getTime() + hours * 3_600_000).toISOString());
  });
});

describe('consult_followup', () => {
  const dueIn = async (days: number) => new Date((await now()).getTime() + days * 86_400_000).toISOString().slice(0, 10);

  test('waits until follow_up_due_on − 7 d, asks booking, reminds, and gives the care team a task when it was missed', async () => {
    const consult = randomUUID();
    const due = await dueIn(30);
    const completed_at = (await now()).toISOString();
    await workflow.tell(
      consultCompleted,
      { consult_id: consult, visit_id: null, consult_type: 'initial', completed_at, follow_up_due_on: due },
      DEMO,
    );
    const run = await runOf('consult_followup', consult);
    const reminded = new Date(Date.parse(`${due}T00:00:00.000Z`) - 7 * 86_400_000).toISOString();
    expect(run.waiting_for).toMatchObject({ kind: 'timer', until: reminded });
    await workflow.clock({ now: reminded });
    expect(await workflow.messages('consult_follow_up')).toEqual([{ user: DEMO, role: null, consult_id: consult, due_on: due }]);
    await workflow.clock({ advance: 'P8D' });
    expect((await workflow.tasks(run.id)).map(task => [task.assignee_role, task.title])).toEqual([
      ['clinician', 'A follow-up consult was missed'],
    ]);
    await workflow.clock({ advance: 'P4D' });
    expect(await workflow.run(run.id)).toMatchObject({ status: 'succeeded', output: { outcome: 'missed' } });
  }, 120_000);

  test('without a day there is none, and a partner names no day', async () => {
    const [consult, ref] = [randomUUID(), `cs_${randomUUID()}`];
    const occurred_at = (await now()).toISOString();
    await workflow.tell(
      consultCompleted,
      { consult_id: consult, visit_id: null, consult_type: 'initial', completed_at: occurred_at, follow_up_due_on: null },
      DEMO,
    );
    const partner = { ...partnerConsultOutcome.examples[0], consult_ref: ref };
    await workflow.tell(partnerConsultOutcome, partner as never, DEMO);
    for (const key of [consult, `partner:${ref}`])
      expect(await runOf('consult_followup', key)).toMatchObject({ status: 'succeeded', output: { outcome: 'no_follow_up' } });
  }, 60_000);
});

describe('protocol_onboarding', () => {
  async function started(): Promise<{ patient: string; id: string; run: any }> {
    const patient = await clinic.patient('lipid_reset');
    const { id } = (await clinic.rest('GET', `/v1/protocols?user_id=${patient}`)).body.data[0];
    return { patient, id, run: await runOf('protocol_onboarding', id) };
  }

  test('welcome, first check-in, day-7 adherence check', async () => {
    const { patient, id, run } = await started();
    const mine = async (template: string) => (await workflow.messages(template)).filter(one => one.user === patient);
    expect(await mine('protocol_welcome')).toEqual([{ user: patient, role: null, protocol_id: id }]);
    expect(await mine('protocol_first_check_in')).toEqual([]);
    await workflow.clock({ advance: 'P1D' });
    expect(await mine('protocol_first_check_in')).toHaveLength(1);
    await workflow.clock({ advance: 'P6D' });
    expect(await statuses(run.id)).toEqual([['clinician', 'open']]);
    await workflow.clock({ advance: 'P2D' });
    expect(await workflow.run(run.id)).toMatchObject({ status: 'succeeded', output: { outcome: 'completed' } });
  }, 180_000);

  test('ends when the intervention is no longer active', async () => {
    const { id, run } = await started();
    expect((await clinic.rest('POST', `/v1/protocols/${id}/stop`, { reason: 'a test' })).status).toBe(200);
    await workflow.clock({ advance: 'PT1H' });
    expect(await workflow.run(run.id)).toMatchObject({ status: 'succeeded', output: { outcome: 'ended', intervention_status: 'stopped' } });
  }, 60_000);

  test('the same trigger event 10 × in parallel → one run', async () => {
    const id = randomUUID();
    const data = { protocol_id: id, protocol: 'lipid_reset', version: 1, started_on: '2026-08-01', prescriber_id: null };
    await Promise.all(Array.from({ length: 10 }, () => workflow.tell(protocolStarted, data, DEMO)));
    await until(
      'all of them',
      () => clinic.p.sql('select 1 from workflow.heard_event where key = $1', [id]),
      rows => rows.length === 10,
    );
    expect((await workflow.runsOf('protocol_onboarding')).filter(run => run.key === id)).toHaveLength(1);
  }, 60_000);
});

describe('inbox_command', () => {
  const staff = (permissions: string[]) => clinic.p.userToken(ADMIN, ['read:account'], { permissions, roles: ['support'] } as never);
  const commanded = async (command: string, conversation: string | null = randomUUID()) => {
    const id = randomUUID();
    await workflow.tell(
      teamChatCommandReceived,
      { command_id: id, command, conversation_id: conversation, staff_id: ADMIN, argument_count: 0 },
      null,
    );
    return runOf('inbox_command', id);
  };
  const taskOf = async (run: { id: string }) => (await workflow.tasks(run.id))[0]!.id;
  const decide = (task: string, confirmed: boolean, token: string) =>
    workflow.call('POST', `/tasks/${task}/complete`, { result: { confirmed } }, token);

  test('allow-listed commands only', async () => {
    expect(await commanded('delete_everything')).toMatchObject({ output: { outcome: 'refused', reason: 'command_not_allowed' } });
    expect(await commanded('block', null)).toMatchObject({ output: { outcome: 'refused', reason: 'no_conversation' } });
  });

  test('is confirmed by whoever gave it, under a token that may work the inbox; without messaging the run fails and can be resumed', async () => {
    const run = await commanded('close');
    const task = await taskOf(run);
    expect((await decide(task, true, await staff(['admin:payments']))).body).toMatchObject({ status: 403, reason: 'permission_missing' });
    expect((await decide(task, true, await staff(['admin:comms:inbox']))).status).toBe(200);
    expect(await workflow.reaches(run.id, 'failed')).toMatchObject({ error_code: 'messaging_not_available' });
    expect((await workflow.call('POST', `/runs/${run.id}/resume`, { reason: 'messaging is there' })).status).toBe(200);
    const again = await until(
      'it to fail again',
      () => workflow.run(run.id),
      one => one.attempts === 2 && one.status === 'failed',
    );
    expect([again.error_code, await workflow.tasks(run.id)]).toMatchObject(['messaging_not_available', [{ status: 'completed' }]]);
  });

  test('that is withdrawn, or that nobody confirms, does nothing', async () => {
    const withdrawn = await commanded('block');
    await decide(await taskOf(withdrawn), false, await staff(['admin:comms']));
    expect(await workflow.reaches(withdrawn.id, 'succeeded')).toMatchObject({ output: { outcome: 'withdrawn' } });
    const forgotten = await commanded('assign');
    await workflow.clock({ advance: 'PT15M' });
    expect(await workflow.run(forgotten.id)).toMatchObject({ output: { outcome: 'not_confirmed' } });
  });

  test('a block by a rule stands when support says so; other changes of a screening start nothing', async () => {
    const change = (to: 'blocked' | 'cleared', conversation_id: string) =>
      workflow.tell(screeningStatusChanged, { conversation_id, from: 'new', to, actor_type: 'rule', staff_id: null }, null);
    const before = (await workflow.runsOf('inbox_command')).length;
    const conversation = randomUUID();
    await change('cleared', conversation);
    await change('blocked', conversation);
    const runs = await until(
      'the run',
      () => workflow.runsOf('inbox_command'),
      all => all.length > before,
    );
    expect(runs).toHaveLength(before + 1);
    const run = await workflow.reaches(runs[0].id, 'waiting');
    expect(await statuses(run.id)).toEqual([['support', 'open']]);
    await decide(await taskOf(run), true, await staff(['admin:comms:inbox']));
    expect(await workflow.reaches(run.id, 'succeeded')).toMatchObject({ output: { outcome: 'block_stands' } });
  });
});

test('no input, output, task or message of a run holds a code of a marker or a value', async () => {
  const leak = 'potassium|hba1c|(^|[^0-9])(6[.]6|7[.]2)([^0-9]|$)'; // not the seconds of an instant
  for (const table of ['workflow_run_meta', 'workflow_task', 'workflow_step'])
    expect(await clinic.p.sql(`select 1 from workflow.${table} t where t::text ~* $1`, [leak])).toEqual([]);
  expect(await clinic.p.sql(`select 1 from events.outbox where source = 'workflow' and data::text ~* $1`, [leak])).toEqual([]);
});
