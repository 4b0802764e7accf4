import { membershipBonusEligible, membershipLapsed } from '../../events/catalogue/membership.js';
import { paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { grantBonus, revokeBonuses } from './commands/bonus.js';
import { returnRefunded, undoRefund } from './commands/returns.js';

const eligible = handle(membershipBonusEligible, (ctx: Context, { user_id: userId, data }) => grantBonus(ctx, userId!, data));
const lapsed = handle(membershipLapsed, (ctx: Context, { user_id: userId, data }) => revokeBonuses(ctx, userId!, data.membership_id));

const refunded = handle(paymentRefunded, (ctx: Context, { user_id: userId, data }) =>
  data.status === 'failed' ? undoRefund(ctx, userId!, data) : returnRefunded(ctx, userId!, data),
);

/** One queue, so that what gives comes before what takes back. Source: cash 5. */
export const consumers: readonly Consumer<Context>[] = [{ name: 'cash.balances', on: [eligible, lapsed, refunded] }];
