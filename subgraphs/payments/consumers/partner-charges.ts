import {
  partnerChargeAuthorized,
  partnerChargeCaptured,
  partnerChargeDisputed,
  partnerChargeFailed,
  partnerChargeRefunded,
} from '../../../events/catalogue/partner.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { reportPartnerCharge, type PartnerReport } from '../commands/partner-report.js';
import type { PartnerState } from '../rules/telehealth.js';

/** What all five reports of a charge have; those that only some have are null in the others. */
interface Reported {
  partner_event_id: string;
  reported_at: string;
  charge_ref: string;
  amount: number;
  currency: string;
  refunded_total?: number;
  failure_code?: string;
  reason?: string;
}

const reportOf = (state: PartnerState, data: Reported): PartnerReport => ({
  partnerEventId: data.partner_event_id,
  partnerChargeId: data.charge_ref,
  state,
  amount: data.amount,
  refunded: data.refunded_total ?? 0,
  currency: data.currency,
  occurredAt: data.reported_at,
  failureCode: data.failure_code ?? null,
  disputeReason: data.reason ?? null,
  consultId: null,
});

const apply = (ctx: Context, state: PartnerState, userId: string | null, data: Reported): Promise<void> =>
  reportPartnerCharge(ctx, userId, reportOf(state, data));

/** Charges of the telehealth partner; those of nobody known yet are kept aside until they are linked. Source: payments 5.2. */
export const partnerCharges: Consumer<Context> = {
  name: 'payments.partner_charges',
  on: [
    handle(partnerChargeAuthorized, (ctx: Context, { user_id, data }) => apply(ctx, 'authorized', user_id, data)),
    handle(partnerChargeCaptured, (ctx: Context, { user_id, data }) => apply(ctx, 'captured', user_id, data)),
    handle(partnerChargeFailed, (ctx: Context, { user_id, data }) => apply(ctx, 'failed', user_id, data)),
    handle(partnerChargeRefunded, (ctx: Context, { user_id, data }) => apply(ctx, 'refunded', user_id, data)),
    handle(partnerChargeDisputed, (ctx: Context, { user_id, data }) => apply(ctx, 'disputed', user_id, data)),
  ],
};
