import { orderPlaced } from '../../events/catalogue/commerce.js';
import {
  membershipActivated,
  membershipLapsed,
  membershipReactivated,
  membershipSuspended,
  membershipTierChanged,
} from '../../events/catalogue/membership.js';
import { paymentDisputeClosed, paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer, type Envelope } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { forgetUsers } from './commands/forgetting.js';
import { endPurchases, unlockPurchases } from './commands/override.js';
import { askMemberships, type Asked } from './ports/membership.js';
import { keepCopies } from './queries/memberships.js';
import { isFullRefund } from './rules/refund.js';

/** A guest has nothing to be unlocked. */
const placed = handle(orderPlaced, async (ctx: Context, { user_id: userId, data }) => {
  const productIds = data.items.map(item => item.product_id);
  if (userId !== null) await unlockPurchases(ctx, { orderId: data.order_id, userId, productIds });
});

/** Only a full refund takes back what was bought. */
const refunded = handle(paymentRefunded, async (ctx: Context, { data }) => {
  if (isFullRefund(data) && data.order_id != null) await endPurchases(ctx, data.order_id, { refund_id: data.refund_id });
});

const disputed = handle(paymentDisputeClosed, async (ctx: Context, { data }) => {
  if (data.outcome === 'lost' && data.order_id != null) await endPurchases(ctx, data.order_id, { dispute_id: data.dispute_id });
});

interface Told {
  asked: ReadonlyMap<string, Asked>;
  at: Date;
}

/** What membership says now, asked before the transaction: the event only tells that something has changed. */
const askAnew = async (ctx: Context, { user_id: userId }: Envelope): Promise<Told> => ({
  at: ctx.now(),
  asked: await askMemberships(ctx, [userId!]),
});

async function learn(ctx: Context, { user_id: userId }: Envelope): Promise<void> {
  const { asked, at } = ctx.facts as Told;
  await keepCopies(ctx, asked, at);
  forgetUsers(ctx, [userId!]);
}

const MEMBERSHIP = [membershipActivated, membershipReactivated, membershipSuspended, membershipLapsed, membershipTierChanged];

/** One queue for purchases, so that an order comes before its refund. Source: entitlements 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'entitlements.purchases', on: [placed, refunded, disputed] },
  { name: 'entitlements.memberships', on: MEMBERSHIP.map(event => handle(event, learn)), prepare: askAnew },
];
