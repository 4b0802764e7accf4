import { code, data, date, defineEvent, id, int, oneOf, ts } from '../define.js';

const owner = 'clinical' as const;
const observationId = '0190b3a0-1111-7000-8000-000000000001';

export const biomarkerAdded = defineEvent(
  'clinical.biomarker.added.v1',
  data({
    observation_id: id(), code: code(), source: oneOf('lab', 'wearable', 'manual', 'partner'), collected_at: ts(), draw_id: id().nullable(),
  }),
  {
    owner, when: 'One biomarker observation is stored.', user: 'required', scope: 'read:biomarkers',
    examples: [{ observation_id: observationId, code: 'ldl_c', source: 'lab', collected_at: '2026-10-30T08:00:00.000Z', draw_id: observationId }],
  },
);

export const protocolStarted = defineEvent(
  'clinical.protocol.started.v1',
  data({ protocol_id: id(), protocol: code(), version: int(), started_on: date(), prescriber_id: id().nullable() }),
  {
    owner, when: "A member's protocol becomes active.", user: 'required', scope: 'read:protocols',
    examples: [{ protocol_id: observationId, protocol: 'lipid_reset', version: 1, started_on: '2026-08-01', prescriber_id: null }],
  },
);

export const retestCycleStarted = defineEvent(
  'clinical.retest.cycle_started.v1',
  data({ code: code(), protocol: code(), window_days: int(), due_at: ts(), started_at: ts() }),
  {
    owner, when: 'A baseline is captured and a re-test cycle begins.', user: 'required', scope: 'read:my_outcomes',
    examples: [{
      code: 'ldl_c', protocol: 'lipid_reset', window_days: 90, due_at: '2026-10-30T08:00:00.000Z', started_at: '2026-08-01T08:00:00.000Z',
    }],
  },
);

export const retestPrompted = defineEvent(
  'clinical.retest.prompted.v1',
  data({ code: code(), prompt_count: int(), prompted_at: ts() }),
  {
    owner, when: 'The sweep nudges a due re-test cycle.', user: 'required', scope: 'read:my_outcomes',
    examples: [{ code: 'ldl_c', prompt_count: 1, prompted_at: '2026-10-30T12:00:00.000Z' }],
  },
);

export const retestExpired = defineEvent(
  'clinical.retest.expired.v1',
  data({ code: code(), prompt_count: int(), expired_at: ts() }),
  {
    owner, when: 'Window and grace passed without a qualifying follow-up.', user: 'required', scope: 'read:my_outcomes',
    examples: [{ code: 'ldl_c', prompt_count: 3, expired_at: '2026-11-29T12:00:00.000Z' }],
  },
);

export const retestRecorded = defineEvent(
  'clinical.retest.recorded.v1',
  data({ code: code(), direction: oneOf('improved', 'worsened', 'unchanged'), days_to_retest: int() }),
  {
    owner, when: 'A follow-up lab closes a re-test cycle (the Outcome Record).', user: 'required', scope: 'read:my_outcomes',
    examples: [{ code: 'ldl_c', direction: 'improved', days_to_retest: 95 }],
  },
);
