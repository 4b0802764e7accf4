import { lockRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { ErasureOutcome } from '../../../runtime/erasure/erasure.js';
import { BillingCustomer } from '../entities/customer.js';
import { BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';
import { BillingSubscription } from '../entities/subscription.js';
import { processorOf } from '../ports/processors.js';
import { abandonSubscription, endSubscription } from './subscription-end.js';
import { lockSubscription } from './subscription-state.js';

/**
 * What is personal or sealed is nulled, by table; `$1` is the user, `$2` now. The rows of the books' retention duty stay, by the bare id. A
 * second run finds nothing to change. What a gift says of its recipient goes with its purchaser, who has told it.
 */
const STATEMENTS: Readonly<Record<string, string>> = {
  billing_customer: `update payments.billing_customer set email_sealed = null, erased_at = coalesce(erased_at, $2), version = version + 1,
      forget_at = case when processor_customer_id is null then null else $2::timestamptz end
    where user_id = $1 and erased_at is null`,
  payment_method: `update payments.payment_method set status = 'detached', is_default = false, detached_at = coalesce(detached_at, $2), token_sealed = null,
      fingerprint = null, card_brand = null, card_last4 = null, card_exp_month = null, card_exp_year = null, card_funding = null, card_country = null,
      card_wallet = null, bank_last4 = null, billing_address_sealed = null
    where user_id = $1 and (status <> 'detached' or token_sealed is not null or card_last4 is not null or bank_last4 is not null) and $2::timestamptz is not null`,
  payment: `update payments.payment set method_summary = null, next_action_url = null, metadata = '{}'
    where user_id = $1 and (method_summary is not null or metadata <> '{}') and $2::timestamptz is not null`,
  billing_subscription: `update payments.billing_subscription set metadata = '{}', cancel_comment = null
    where user_id = $1 and (metadata <> '{}' or cancel_comment is not null) and $2::timestamptz is not null`,
  checkout_session: `update payments.checkout_session set metadata = '{}', token_sealed = null, token_hash = null
    where user_id = $1 and (metadata <> '{}' or token_hash is not null) and $2::timestamptz is not null`,
  gift: `update payments.gift set recipient_name_sealed = null, recipient_email_sealed = null, message_sealed = null, code_sealed = null, deliver_at = null
    where (purchaser_id = $1 or redeemed_by_id = $1) and $2::timestamptz is not null
      and (recipient_name_sealed is not null or recipient_email_sealed is not null or message_sealed is not null or code_sealed is not null)`,
  dispute: `update payments.dispute set evidence_sealed = null where user_id = $1 and evidence_sealed is not null and closed_at <= $2`,
  payout: `update payments.payout set destination_summary = null where user_id = $1 and destination_summary is not null and $2::timestamptz is not null`,
  payout_destination: 'delete from payments.payout_destination where user_id = $1 and $2::timestamptz is not null',
  portal_session: 'delete from payments.portal_session where user_id = $1 and $2::timestamptz is not null',
};

const OVER = [Status.CANCELLED, Status.INCOMPLETE_EXPIRED];
const ENDING = { reason: 'account_erased', atPeriodEnd: false, involuntary: true };

/** Subscriptions that live end now; those that nobody has paid for come to nothing. */
async function endSubscriptions(ctx: Context, userId: string): Promise<number> {
  const live = await ctx.em.find(BillingSubscription, { userId, status: { $nin: OVER } });
  for (const { id } of live) {
    const subscription = await lockSubscription(ctx, { id });
    if (subscription.status === Status.INCOMPLETE) await abandonSubscription(ctx, subscription, 'cancel');
    else await endSubscription(ctx, subscription, ENDING);
  }
  await ctx.em.flush();
  return live.length;
}

async function changed(ctx: Context, statement: string, userId: string): Promise<number> {
  return (await ctx.sql(`${statement} returning 1`, [userId, ctx.now().toISOString()])).length;
}

const KEPT = `select exists (select from payments.payment where user_id = $1) or exists (select from payments.invoice where user_id = $1)
  or exists (select from payments.refund where user_id = $1) as held`;

/** Ends what lives, forgets what is personal, and keeps what the law wants kept. Source: payments 7.15. */
export async function erasePerson(ctx: Context, userId: string): Promise<ErasureOutcome> {
  const records: Record<string, number> = { subscription_ended: await endSubscriptions(ctx, userId) };
  for (const [table, statement] of Object.entries(STATEMENTS)) records[table] = await changed(ctx, statement, userId);
  const [kept] = await ctx.sql<{ held: boolean }>(KEPT, [userId]);
  if (kept!.held) return { outcome: 'retained', records, basis: 'tax and accounting records' };
  return { outcome: Object.values(records).some(count => count > 0) ? 'erased' : 'nothing_held', records };
}

/** Has the processor delete a customer, and with it the methods there; outside transactions. What does not answer is asked again. */
export async function forgetAtProcessor(host: ServiceHost, { id, processorRef }: BillingCustomer): Promise<void> {
  if (processorRef !== null) {
    const call = { idempotencyKey: `forget:${id}`, clock: await host.read(async ctx => ctx.clock) };
    const result = await processorOf(host).deleteCustomer({ customerId: processorRef }, call);
    if (result.status !== 'succeeded' && result.status !== 'declined') return; // declined: it is gone already
  }
  await host.transaction(async ctx => {
    Object.assign(await lockRow(ctx, BillingCustomer, { id }), { processorRef: null, forgetAt: null });
    ctx.audit('customer.forgotten', id);
  });
}
