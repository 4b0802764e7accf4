import { defineEvent } from '../define.js';
import { code, data, date, id, int, list, oneOf, str, ts } from '../payload.js';

const owner = 'clinical' as const;

export const biomarkerAdded = defineEvent('clinical.biomarker.added.v1',
  data({
    observation_id: id(), code: code('ldl_c'), source: oneOf('lab', 'wearable', 'manual', 'partner'), collected_at: ts('2026-11-18T08:00:00.000Z'),
    draw_id: id().nullable(),
  }),
  {
    owner, when: 'One biomarker observation is stored.', user: 'required', scope: 'read:biomarkers',
    consumers: ['clinical', 'patient-graph', 'intelligence'],
  },
);

export const biomarkerParsed = defineEvent('clinical.biomarker.parsed.v1',
  data({
    report_id: id(), codes: list(code('ldl_c')), count: int(24), unparsed_count: int(), collected_at: ts('2026-11-18T08:00:00.000Z').nullable(),
  }),
  {
    owner, when: 'All observations of one uploaded or received report are parsed.', user: 'required', scope: 'read:biomarkers',
    consumers: ['ai', 'comms', 'patient-graph'],
  },
);

export const bloodworkUploaded = defineEvent('clinical.bloodwork.uploaded.v1',
  data({ report_id: id(), document_id: id(), uploaded_by: oneOf('member', 'staff', 'partner'), page_count: int(4).nullable() }),
  { owner, when: 'A member or staff uploads a report file.', user: 'required', scope: 'read:lab_results', consumers: ['ai'] },
);

export const consultCompleted = defineEvent('clinical.consult.completed.v1',
  data({
    consult_id: id(), visit_id: id().nullable(), consult_type: code('initial'), completed_at: ts(), follow_up_due_on: date('2027-02-20').nullable(),
  }),
  {
    owner, when: 'A clinician signs the consult.', user: 'required', scope: 'read:clinical',
    consumers: ['booking', 'comms', 'patient-graph', 'workflow', 'payments'],
  },
);

export const healthScoreComputed = defineEvent('clinical.health_score.computed.v1',
  data({
    score_id: id(), model_version: code('2026-10'), band: oneOf('low', 'fair', 'good', 'optimal'), trend: oneOf('up', 'down', 'flat', 'first'),
    computed_at: ts(),
  }),
  {
    owner, when: 'A new score version is stored; carries the band, not the score.', user: 'required', scope: 'read:clinical',
    consumers: ['comms', 'intelligence'],
  },
);

export const labResultCritical = defineEvent('clinical.lab_result.critical.v1',
  data({
    alert_id: id(), observation_id: id(), code: code('ldl_c'), severity: oneOf('critical', 'panic'), acknowledge_by: ts('2026-11-20T10:00:00.000Z'),
  }),
  {
    owner, when: 'A result crosses a critical limit; clinicians act first, so it never leaves the platform.', user: 'required', scope: null,
    consumers: ['comms', 'messaging', 'workflow'],
  },
);

export const redFlagDetected = defineEvent('clinical.red_flag.detected.v1',
  data({
    flag_id: id(), rule: code('sustained_high_heart_rate'), severity: oneOf('info', 'warning', 'urgent'),
    source: oneOf('biomarker', 'check_in', 'wearable', 'questionnaire'), detected_at: ts(),
  }),
  {
    owner, when: 'A red-flag rule fires; an urgent one never leaves the platform, because clinicians see it first.', user: 'required',
    scope: 'read:red_flags', withheld: ({ severity }) => severity === 'urgent', consumers: ['comms', 'messaging', 'workflow', 'intelligence'],
  },
);

export const vialCreated = defineEvent('clinical.vial.created.v1',
  data({ vial_id: id(), product_code: code('bpc_157_5mg'), protocol_id: id().nullable(), expires_on: date('2026-12-31'), doses_planned: int(12) }),
  { owner, when: 'A vial is registered for a member.', user: 'required', scope: 'read:protocols', consumers: ['patient-graph', 'comms'] },
);

export const vialDiscarded = defineEvent('clinical.vial.discarded.v1',
  data({ vial_id: id(), reason: oneOf('used_up', 'expired', 'damaged', 'lost', 'other'), discarded_at: ts() }),
  { owner, when: 'A vial is used up, expired or lost.', user: 'required', scope: 'read:protocols', consumers: ['patient-graph', 'commerce'] },
);

export const protocolStarted = defineEvent('clinical.protocol.started.v1',
  data({ protocol_id: id(), protocol: code('lipid_reset'), version: int(), started_on: date(), prescriber_id: id().nullable() }),
  {
    owner, when: "A member's protocol becomes active.", user: 'required', scope: 'read:protocols',
    consumers: ['comms', 'patient-graph', 'intelligence', 'workflow'],
  },
);

export const retestCycleStarted = defineEvent('clinical.retest.cycle_started.v1',
  data({ code: code('ldl_c'), protocol: code('lipid_reset'), window_days: int(90), due_at: ts('2026-12-20T09:30:00.000Z'), started_at: ts() }),
  { owner, when: 'A baseline is captured and a re-test cycle begins.', user: 'required', scope: 'read:my_outcomes', consumers: ['intelligence'] },
);

export const retestPrompted = defineEvent('clinical.retest.prompted.v1',
  data({ code: code('ldl_c'), prompt_count: int(), prompted_at: ts() }),
  { owner, when: 'The sweep nudges a due re-test cycle.', user: 'required', scope: 'read:my_outcomes', consumers: ['comms', 'intelligence'] },
);

export const retestExpired = defineEvent('clinical.retest.expired.v1',
  data({ code: code('ldl_c'), prompt_count: int(), expired_at: ts() }),
  { owner, when: 'Window and grace passed without a qualifying follow-up.', user: 'required', scope: 'read:my_outcomes' },
);

export const retestRecorded = defineEvent('clinical.retest.recorded.v1',
  data({ code: code('ldl_c'), direction: oneOf('improved', 'worsened', 'unchanged'), days_to_retest: int(95) }),
  {
    owner, when: 'A follow-up lab closes a re-test cycle (the Outcome Record).', user: 'required', scope: 'read:my_outcomes',
    consumers: ['intelligence'],
  },
);

export const checkInDue = defineEvent('check_in.due.v1',
  data({ check_in_id: id(), template: code('weekly_check_in'), due_at: ts('2026-12-20T09:30:00.000Z'), sequence: int() }),
  { owner, when: 'A scheduled check-in opens.', user: 'required', scope: 'read:check_ins', consumers: ['comms'] },
);

export const doseReminderScheduled = defineEvent('dose.reminder.scheduled.v1',
  data({
    reminder_id: id(), protocol_id: id(), vial_id: id().nullable(), scheduled_for: ts('2026-11-21T07:00:00.000Z'), time_zone: str('Europe/Berlin'),
  }),
  { owner, when: 'The next dose reminder is planned.', user: 'required', scope: 'read:protocols', consumers: ['comms', 'jobs'] },
);
