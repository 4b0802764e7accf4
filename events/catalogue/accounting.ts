import { defineEvent } from '../define.js';
import { code, cur, data, id, int, list, minor, ref, ts } from '../payload.js';

const owner = 'accounting' as const;

export const transactionPosted = defineEvent('accounting.transaction.posted.v1',
  data({
    transaction_id: id(), source_service: code('payments'), source_type: code('payment'), source_id: ref('0190b3a0-1111-7000-8000-000000000042'),
    amounts: list(data({ amount: int(4900), currency: cur() })), effective_at: ts(), wallet_ids: list(id()),
  }),
  { owner, when: 'A balanced transaction is committed to the ledger.', user: 'optional', scope: null },
);

export const balanceChanged = defineEvent('accounting.balance.changed.v1',
  data({
    wallet_id: id(), kind: code('checking'), currency: cur(), balance: minor(12000), available: minor(12000), delta: minor(-4900),
    transaction_id: id(), account_version: int(41),
  }),
  { owner, when: "A wallet's posted or available balance changed; once per wallet and commit.", user: 'required', scope: null },
);

export const transactionReversed = defineEvent('accounting.transaction.reversed.v1',
  data({
    transaction_id: id(), reversal_id: id(), reason_code: code('correction'), source_type: code('payment'),
    source_id: ref('0190b3a0-1111-7000-8000-000000000042'), amounts: list(data({ amount: int(4900), currency: cur() })),
  }),
  { owner, when: 'A reversing transaction is posted.', user: 'optional', scope: null },
);
