import { defineEvent } from '../define.js';
import { added, code, cur, data, id, int, minor, oneOf, ts } from '../payload.js';

const owner = 'affiliates' as const;

export const commissionPosted = defineEvent('affiliate.commission.posted.v1',
  data({
    commission_id: id(), affiliate_id: id(), order_id: id().nullable(), subscription_id: id().nullable(), amount: minor(490), currency: cur(),
    rate_bps: int(1000).nullable(), tier: code('gold'), payable_at: ts('2026-12-01T00:00:00.000Z'),
    accrual_id: added(id()),
  }),
  {
    owner, revision: 2, when: 'A commission passes its hold period and is owed.', user: 'required', about: 'the affiliate', scope: 'read:affiliate_self',
    consumers: ['accounting', 'comms'],
  },
);

export const commissionReversed = defineEvent('affiliate.commission.reversed.v1',
  data({
    commission_id: id(), affiliate_id: id(), amount: minor(490), currency: cur(), reason: oneOf('refund', 'dispute', 'fraud', 'adjustment'),
    reversed_at: ts(), reversal_id: added(id()),
  }),
  {
    owner, revision: 2, when: 'Refund, dispute or fraud removes a commission.', user: 'required', about: 'the affiliate', scope: 'read:affiliate_self',
    consumers: ['accounting', 'comms'],
  },
);

export const earningsAccrued = defineEvent('earnings.accrued.v1',
  data({
    accrual_id: id(), affiliate_id: id(), amount: minor(490), currency: cur(), source_type: oneOf('order', 'subscription', 'bonus'), source_id: id(),
    hold_until: ts('2026-12-20T09:30:00.000Z'),
  }),
  {
    owner, when: 'Attribution creates a commission still on hold, or a bounced refund gives one back.', user: 'required', about: 'the affiliate', scope: 'read:affiliate_self',
    consumers: ['accounting'],
  },
);
