import type { Context } from '../../../runtime/request/context.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { isOver } from '../rules/subscription-states.js';
import { endSubscription } from './subscription-end.js';
import { lockSubscription } from './subscription-state.js';

/** How a subscription of a treatment names it: keys of its metadata. */
export type TreatmentKey = 'consult_id' | 'treatment_ref';

const FIND = `select id from payments.billing_subscription where user_id = $1 and subject_kind = $2 and metadata ->> $3 = $4
  and status not in ('cancelled', 'incomplete_expired') order by id`;

/** A treatment was refused or ended: what was subscribed to for it ends now. Source: payments 5.2. */
export async function endTreatment(ctx: Context, userId: string, key: TreatmentKey, value: string, reason: string): Promise<void> {
  const rows = await ctx.sql<{ id: string }>(FIND, [userId, PriceSubjectKind.PROTOCOL, key, value]);
  for (const { id } of rows) {
    const subscription = await lockSubscription(ctx, { id });
    if (!isOver(subscription.status)) await endSubscription(ctx, subscription, { reason, atPeriodEnd: false, involuntary: true });
  }
}
