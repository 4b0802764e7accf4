import { defineEvent } from '../define.js';
import { added, code, cur, data, id, list, minor, oneOf, ts } from '../payload.js';

const owner = 'cash' as const;

export const cashGranted = defineEvent('cash.granted.v1',
  data({
    grant_id: id(), source: oneOf('promotion', 'bonus', 'gift', 'refund', 'referral', 'staff'), amount: minor(4900), currency: cur(),
    expires_at: ts('2026-11-20T09:45:00.000Z').nullable(), reference_type: code('order').nullable(), reference_id: id().nullable(),
    balance: minor(12000),
  }),
  { owner, when: 'A grant becomes spendable.', user: 'required', scope: 'read:cash_balance', consumers: ['accounting', 'comms'] },
);

export const cashSpent = defineEvent('cash.spent.v1',
  data({
    spend_id: id(), amount: minor(1500), currency: cur(), reference_type: code('order'), reference_id: id(),
    lots: list(data({ grant_id: id(), amount: minor(1500), source: code('web') })), balance: minor(12000),
  }),
  { owner, when: 'Balance is used.', user: 'required', scope: 'read:cash_balance', consumers: ['accounting'] },
);

export const cashExpired = defineEvent('cash.expired.v1',
  data({
    grant_id: id(), amount: minor(4900), currency: cur(), reason: oneOf('expired', 'revoked'), source: code('promotion'), balance: minor(12000),
    reference_type: added(code('refund')), reference_id: added(id()),
  }),
  {
    owner, revision: 2, when: 'The unspent rest of a grant lapses or is revoked.', user: 'required', scope: 'read:cash_balance',
    consumers: ['accounting', 'comms'],
  },
);
