import { defineEvent } from '../define.js';
import { bool, code, cur, data, id, int, minor, oneOf, ts } from '../payload.js';

const owner = 'membership' as const;

/** What every event of a membership carries. */
const membership = {
  membership_id: id(), plan_id: id(), plan_key: code('gold_monthly'), tier_key: code('gold'), brand_id: id(), subscription_id: id().nullable(),
};

export const membershipActivated = defineEvent('membership.activated.v1',
  data({ ...membership, source: code('subscription'), started_at: ts(), current_period_end: ts('2026-12-20T09:30:00.000Z').nullable() }),
  { owner, when: 'First activation of a membership.', user: 'required', scope: 'read:membership', consumers: ['entitlements', 'comms', 'community', 'identity'] },
);

export const membershipTierChanged = defineEvent('membership.tier.changed.v1',
  data({ ...membership, from_tier: code('silver'), to_tier: code('gold'), direction: oneOf('up', 'down'), effective_at: ts() }),
  {
    owner, when: 'The tier of a membership goes up or down.', user: 'required', scope: 'read:membership',
    consumers: ['entitlements', 'comms', 'identity'],
  },
);

export const membershipSuspended = defineEvent('membership.suspended.v1',
  data({ ...membership, reason: code('payment_past_due'), suspended_at: ts(), grace_used: bool() }),
  {
    owner, when: 'Access of a membership is held (dunning, dispute, moderation).', user: 'required', scope: 'read:membership',
    consumers: ['entitlements', 'comms'],
  },
);

export const membershipLapsed = defineEvent('membership.lapsed.v1',
  data({
    ...membership, reason: oneOf('cancelled', 'payment_failed', 'comp_ended', 'staff', 'erasure'), involuntary: bool(), lapsed_at: ts(),
    tenure_days: int(412),
  }),
  { owner, when: 'A membership ended.', user: 'required', scope: 'read:membership', consumers: ['entitlements', 'affiliates', 'cash', 'comms'] },
);

export const membershipReactivated = defineEvent('membership.reactivated.v1',
  data({ ...membership, from: oneOf('suspended', 'lapsed'), days_away: int(21) }),
  { owner, when: 'A membership is active again.', user: 'required', scope: 'read:membership', consumers: ['entitlements', 'comms', 'affiliates'] },
);

export const membershipBonusEligible = defineEvent('membership.bonus.eligible.v1',
  data({
    ...membership, bonus_key: code('monthly_cash'), period_key: code('2026-11'), cash_amount: minor(1000), currency: cur(),
    expires_days: int(90).nullable(), revoke_on_lapse: bool(),
  }),
  { owner, when: 'A bonus rule is met.', user: 'required', scope: null, consumers: ['cash', 'comms'] },
);

export const winBackStarted = defineEvent('membership.win_back.started.v1',
  data({ ...membership, offer_key: code('come_back_20'), ends_at: ts('2026-11-24T10:30:00.000Z'), lapsed_at: ts(), last_tier: code('gold') }),
  { owner, when: 'A win-back campaign opens for a lapsed member.', user: 'required', scope: null, consumers: ['affiliates', 'comms'] },
);

export const memberMilestoneUnlocked = defineEvent('member.milestone.unlocked.v1',
  data({ milestone: code('one_year'), unlocked_at: ts(), reward_key: code('free_shipping').nullable() }),
  {
    owner, when: 'A milestone rule of membership (tenure, orders, return) is met, once; a milestone code never tells a health fact.',
    user: 'required', scope: 'read:membership', consumers: ['comms', 'community', 'identity'],
  },
);
