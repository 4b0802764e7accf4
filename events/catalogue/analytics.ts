import { defineEvent } from '../define.js';
import { code, data, id, int, oneOf, ts } from '../payload.js';

const owner = 'analytics' as const;

export const attributionResolved = defineEvent('analytics.attribution.resolved.v1',
  data({
    attribution_id: id(), conversion_type: oneOf('order', 'subscription', 'registration'), conversion_id: id(),
    model: oneOf('first_touch', 'last_touch', 'linear', 'position'), channel: code('affiliate'), affiliate_id: id().nullable(),
    weight_bps: int(10000),
  }),
  { owner, when: 'The attribution window of a conversion closes.', user: 'optional', scope: null },
);

export const clientEventTracked = defineEvent('analytics.event.tracked.v1',
  data({
    track_id: id(), name: code('page_viewed'), source: oneOf('web', 'ios', 'android', 'server'), session_id: id().nullable(), tracked_at: ts(),
  }),
  { owner, when: 'A client event passes validation (sampled types only).', user: 'optional', scope: null, consumers: ['intelligence'] },
);

export const featuresRefreshed = defineEvent('analytics.features.refresh.v1',
  data({ feature_set: code('engagement'), version: int(7), entity_type: code('user'), entity_count: int(5200), as_of: ts() }),
  { owner, when: 'A feature set is recomputed.', user: 'optional', scope: null, consumers: ['intelligence'] },
);

export const outcomeCreated = defineEvent('analytics.outcome.created.v1',
  data({ outcome_id: id(), decision_id: id(), metric: code('retested_within_window'), matures_at: ts('2027-02-18T09:30:00.000Z') }),
  { owner, when: 'An outcome window is opened for a decision.', user: 'required', scope: null, consumers: ['intelligence'] },
);

export const outcomeRecorded = defineEvent('analytics.outcome.recorded.v1',
  data({
    outcome_id: id(), decision_id: id(), metric: code('retested_within_window'), label: oneOf('positive', 'negative', 'neutral'), recorded_at: ts(),
  }),
  { owner, when: 'The outcome of a decision is known.', user: 'required', scope: null, consumers: ['intelligence'] },
);
