import type { TransitionTable } from '../../../runtime/request/states.js';
import { InvoiceStatus as Status } from '../entities/enums-billing.js';

/** `settle`: nothing is due any more; `fall_due`: a collection failed or its time has passed; `write_off`: dunning is exhausted, or staff says so. */
export type InvoiceTrigger = 'finalize' | 'settle' | 'fall_due' | 'write_off' | 'void';

/** Source: payments 3.4. A draft with nothing to pay is settled without a payment; a paid one never leaves. */
export const INVOICE_STATES: TransitionTable<Status, InvoiceTrigger> = {
  draft: { finalize: Status.OPEN, settle: Status.PAID },
  open: { settle: Status.PAID, fall_due: Status.PAST_DUE, write_off: Status.UNCOLLECTIBLE, void: Status.VOID },
  past_due: { settle: Status.PAID, fall_due: Status.PAST_DUE, write_off: Status.UNCOLLECTIBLE, void: Status.VOID },
  paid: {},
  uncollectible: { settle: Status.PAID },
  void: {},
};

const COLLECTED: readonly Status[] = [Status.OPEN, Status.PAST_DUE];

/** Whether money is still asked for. */
export const isCollected = (status: Status): boolean => COLLECTED.includes(status);
