import { commissionPosted, commissionReversed } from '../../../events/catalogue/affiliates.js';
import { cashExpired, cashGranted } from '../../../events/catalogue/cash.js';
import { orderPlaced } from '../../../events/catalogue/commerce.js';
import {
  memberMilestoneUnlocked,
  membershipActivated,
  membershipBonusEligible,
  membershipLapsed,
  membershipReactivated,
  membershipSuspended,
  membershipTierChanged,
  winBackStarted,
} from '../../../events/catalogue/membership.js';
import {
  paymentDisputeCreated,
  paymentFailed,
  paymentInvoiceFailed,
  paymentInvoicePaid,
  paymentInvoicePastDue,
  paymentPaid,
  paymentRefunded,
  paymentScheduled,
  subscriptionCancelled,
  subscriptionCreated,
  subscriptionPaused,
  subscriptionResumed,
} from '../../../events/catalogue/payments.js';
import { handle, type Envelope, type Handler } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { commissionChanged } from '../commands/commissions.js';
import { tell } from '../commands/tell.js';

const AHEAD_MS = 3 * 86_400_000;
const PLAN = 'membership_plan';

/** Of a membership its own service tells; one message of both is enough. */
const isMembership = ({ kind, subject_kind }: { kind: string; subject_kind?: string | null }): boolean =>
  kind === 'billing' && subject_kind === PLAN;

/** What is paid, or not, of an invoice its invoice tells. */
const isOfNoInvoice = ({ data }: Envelope<{ invoice_id: string | null }>): boolean => data.invoice_id === null;

const subscription = (id: string) => ({ type: 'subscription', id });

/** What payments, orders, memberships, credit and commissions tell of a person. */
export const money: readonly Handler<Context>[] = [
  handle(
    paymentFailed,
    (ctx: Context, event) => {
      const { payment_id, attempt, amount, currency, category } = event.data;
      return tell(ctx, event, {
        template: 'payment_failed',
        key: `${payment_id}:${attempt}`,
        params: { amount, currency, category, payment_id, attempt },
        entity: { type: 'payment', id: payment_id },
      });
    },
    isOfNoInvoice,
  ),
  handle(paymentInvoiceFailed, (ctx: Context, event) => {
    const { invoice_id, amount_due: amount, currency, attempt_count: attempt } = event.data;
    return tell(ctx, event, {
      template: 'payment_failed',
      key: `${invoice_id}:${attempt}`,
      params: { amount, currency, invoice_id, attempt },
      entity: { type: 'invoice', id: invoice_id },
    });
  }),
  handle(
    paymentPaid,
    (ctx: Context, event) => {
      const { obligation_id, total_amount: amount, currency } = event.data;
      return tell(ctx, event, {
        template: 'receipt',
        key: obligation_id,
        params: { amount, currency },
        entity: { type: 'obligation', id: obligation_id },
      });
    },
    isOfNoInvoice,
  ),
  handle(paymentInvoicePaid, (ctx: Context, event) => {
    const { invoice_id, number, total_amount: amount, currency } = event.data;
    return tell(ctx, event, {
      template: 'receipt',
      key: invoice_id,
      params: { amount, currency, ...(number !== null && { invoice_number: number }) },
      entity: { type: 'invoice', id: invoice_id },
    });
  }),
  handle(paymentInvoicePastDue, (ctx: Context, event) => {
    const { invoice_id, number, amount_due: amount, currency } = event.data;
    return tell(ctx, event, {
      template: 'past_due',
      key: invoice_id,
      params: { amount, currency, ...(number !== null && { invoice_number: number }) },
      entity: { type: 'invoice', id: invoice_id },
    });
  }),
  handle(paymentRefunded, (ctx: Context, event) => {
    const { refund_id, amount, currency, payment_id } = event.data;
    return tell(ctx, event, {
      template: 'refund',
      key: refund_id,
      params: { amount, currency },
      entity: { type: 'payment', id: payment_id },
    });
  }),
  handle(paymentScheduled, (ctx: Context, event) => {
    const { subscription_id, amount, currency, charge_at } = event.data;
    if (subscription_id === null) return tell(ctx, event, null);
    const at = new Date(charge_at);
    const told = {
      template: 'charge_ahead',
      key: `${subscription_id}:${charge_at}`,
      params: { amount, currency, charge_at, subscription_id },
      sendAfter: new Date(at.getTime() - AHEAD_MS),
      expiresAt: at,
    };
    return tell(ctx, event, { ...told, entity: subscription(subscription_id) });
  }),
  handle(paymentDisputeCreated, (ctx: Context, event) => {
    const { dispute_id, amount, currency, status, payment_id } = event.data;
    return tell(ctx, event, {
      template: 'dispute',
      key: `${dispute_id}:${status}`,
      params: { amount, currency, status },
      entity: { type: 'payment', id: payment_id },
    });
  }),
  handle(subscriptionCreated, (ctx: Context, event) => {
    const { kind, subscription_id } = event.data;
    return tell(
      ctx,
      event,
      isMembership(event.data as never)
        ? null
        : {
            template: 'subscription_created',
            key: subscription_id,
            params: { kind, subscription_id },
            entity: subscription(subscription_id),
          },
    );
  }),
  handle(subscriptionCancelled, (ctx: Context, event) => {
    const { kind, subscription_id } = event.data;
    return tell(ctx, event, {
      template: 'subscription_cancelled',
      params: { kind, subscription_id },
      entity: subscription(subscription_id),
    });
  }),
  handle(subscriptionPaused, (ctx: Context, event) => {
    const { kind, subscription_id } = event.data;
    return tell(ctx, event, { template: 'subscription_paused', params: { kind, subscription_id }, entity: subscription(subscription_id) });
  }),
  handle(subscriptionResumed, (ctx: Context, event) => {
    const { kind, subscription_id } = event.data;
    return tell(ctx, event, { template: 'subscription_resumed', params: { kind, subscription_id }, entity: subscription(subscription_id) });
  }),
  handle(orderPlaced, (ctx: Context, event) => {
    const { order_id, order_number, total_amount: amount, currency } = event.data;
    return tell(ctx, event, {
      template: 'order_placed',
      key: order_id,
      params: { order_number, amount, currency },
      entity: { type: 'order', id: order_id },
    });
  }),
  handle(membershipActivated, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'membership_activated',
      params: { membership_id: event.data.membership_id },
      entity: { type: 'membership', id: event.data.membership_id },
    }),
  ),
  handle(membershipSuspended, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'membership_suspended',
      params: { membership_id: event.data.membership_id },
      entity: { type: 'membership', id: event.data.membership_id },
    }),
  ),
  handle(membershipReactivated, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'membership_reactivated',
      params: { membership_id: event.data.membership_id },
      entity: { type: 'membership', id: event.data.membership_id },
    }),
  ),
  handle(membershipTierChanged, (ctx: Context, event) => {
    const { membership_id, direction } = event.data;
    return tell(ctx, event, {
      template: 'membership_tier_changed',
      params: { membership_id, direction },
      entity: { type: 'membership', id: membership_id },
    });
  }),
  handle(membershipLapsed, (ctx: Context, event) =>
    tell(
      ctx,
      event,
      event.data.reason === 'erasure'
        ? null
        : {
            template: 'membership_lapsed',
            params: { membership_id: event.data.membership_id },
            entity: { type: 'membership', id: event.data.membership_id },
          },
    ),
  ),
  handle(membershipBonusEligible, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'bonus',
      key: `${event.data.membership_id}:${event.data.bonus_key}:${event.data.period_key}`,
      params: { membership_id: event.data.membership_id },
      entity: { type: 'membership', id: event.data.membership_id },
    }),
  ),
  handle(memberMilestoneUnlocked, (ctx: Context, event) =>
    tell(ctx, event, { template: 'milestone', params: { milestone: event.data.milestone } }),
  ),
  handle(winBackStarted, (ctx: Context, event) => {
    const { offer_key, ends_at, membership_id } = event.data;
    return tell(ctx, event, {
      template: 'win_back',
      params: { offer_key, ends_at },
      expiresAt: new Date(ends_at),
      entity: { type: 'membership', id: membership_id },
    });
  }),
  handle(cashGranted, (ctx: Context, event) => {
    const { grant_id, amount, currency, expires_at, source } = event.data;
    const params = { amount, currency, ...(expires_at !== null && { expires_at }) };
    return tell(
      ctx,
      event,
      source === 'refund' ? null : { template: 'cash_granted', key: grant_id, params, entity: { type: 'cash_grant', id: grant_id } },
    );
  }),
  handle(cashExpired, (ctx: Context, event) => {
    const { grant_id, amount, currency } = event.data;
    return tell(ctx, event, {
      template: 'cash_expired',
      key: grant_id,
      params: { amount, currency },
      entity: { type: 'cash_grant', id: grant_id },
    });
  }),
  handle(commissionPosted, (ctx: Context, event) => commissionChanged(ctx, event, 'commission_posted')),
  handle(commissionReversed, (ctx: Context, event) => commissionChanged(ctx, event, 'commission_reversed')),
];
