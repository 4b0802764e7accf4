import { defineEvent } from '../define.js';
import { code, data, date, id, int, list, oneOf, ts } from '../payload.js';

const owner = 'patient-graph' as const;

export const patientCreated = defineEvent('patient_graph.patient.created.v1',
  data({ patient_id: id(), source: oneOf('signup', 'import', 'partner') }),
  { owner, when: 'A patient node exists for a user.', user: 'required', scope: null, consumers: ['clinical', 'labs'] },
);

export const patientUpdated = defineEvent('patient_graph.patient.updated.v1',
  data({ patient_id: id(), changed: list(code('address')), version: int(7) }),
  { owner, when: 'Demographics or links change.', user: 'required', scope: null, consumers: ['clinical', 'labs', 'partner'] },
);

export const encounterRecorded = defineEvent('patient_graph.encounter.recorded.v1',
  data({
    encounter_id: id(), encounter_class: oneOf('virtual', 'ambulatory', 'home'), period_start: ts('2026-11-20T09:30:00.000Z'),
    source: code('booking'),
  }),
  { owner, when: 'An encounter is stored.', user: 'required', scope: null, consumers: ['clinical', 'intelligence'] },
);

export const medicationPrescribed = defineEvent('patient_graph.medication.prescribed.v1',
  data({ medication_request_id: id(), medication: code('semaglutide'), intent: oneOf('order', 'plan'), authored_on: date() }),
  { owner, when: 'A medication request is stored.', user: 'required', scope: null, consumers: ['clinical', 'commerce'] },
);

export const wearableSynced = defineEvent('patient_graph.wearable.synced.v1',
  data({
    batch_id: id(), provider: code('oura'), kinds: list(code('sleep')), sample_count: int(288), window_start: ts('2026-11-19T00:00:00.000Z'),
    window_end: ts('2026-11-20T00:00:00.000Z'),
  }),
  { owner, when: 'A batch of wearable samples is merged.', user: 'required', scope: 'read:wearables', consumers: ['clinical', 'intelligence'] },
);

export const sharpsReminderRequested = defineEvent('patient_graph.adherence.sharps_reminder_requested.v1',
  data({ reminder_id: id(), due_on: date('2026-12-05'), container_count: int() }),
  { owner, when: 'A sharps container is due for return.', user: 'required', scope: null, consumers: ['comms'] },
);
