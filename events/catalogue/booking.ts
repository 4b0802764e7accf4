import { defineEvent } from '../define.js';
import { bool, code, data, id, int, oneOf, str, ts } from '../payload.js';

const owner = 'booking' as const;

export const visitCreated = defineEvent('booking.visit.created.v1',
  data({
    visit_id: id(), visit_type: code('follow_up'), provider_id: id(), mode: oneOf('video', 'phone', 'in_person'),
    starts_at: ts('2026-11-24T10:00:00.000Z'), ends_at: ts('2026-11-24T10:30:00.000Z'), time_zone: str('Europe/Berlin'),
    source: oneOf('member', 'staff', 'partner'),
  }),
  {
    owner, when: 'A slot is taken: a visit is booked.', user: 'required', about: 'the member', scope: null,
    consumers: ['comms', 'clinical', 'live', 'patient-graph'],
  },
);

export const visitRescheduled = defineEvent('booking.visit.rescheduled.v1',
  data({
    visit_id: id(), provider_id: id(), previous_starts_at: ts('2026-11-23T10:00:00.000Z'), starts_at: ts('2026-11-24T10:00:00.000Z'),
    ends_at: ts('2026-11-24T10:30:00.000Z'), initiated_by: oneOf('member', 'staff', 'provider'), reschedule_count: int(),
  }),
  {
    owner, when: 'A visit moves in time or to another provider (then the times may be equal); consumers re-read it.', user: 'required',
    about: 'the member', scope: null, consumers: ['comms', 'clinical', 'live', 'patient-graph'],
  },
);

export const visitCancelled = defineEvent('booking.visit.cancelled.v1',
  data({
    visit_id: id(), starts_at: ts('2026-11-24T10:00:00.000Z'), initiated_by: oneOf('member', 'staff', 'provider', 'system'),
    reason: code('member_request'), fee_applies: bool(),
  }),
  {
    owner, when: 'A visit is cancelled.', user: 'required', about: 'the member', scope: null,
    consumers: ['comms', 'clinical', 'live', 'patient-graph', 'payments'],
  },
);
