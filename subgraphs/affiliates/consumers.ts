import { userCreated } from '../../events/catalogue/identity.js';
import { membershipLapsed, membershipReactivated, winBackStarted } from '../../events/catalogue/membership.js';
import { paymentDisputeClosed, paymentDisputeCreated, paymentPaid, paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { openWindow } from './commands/attribution.js';
import { earn, earnsNobody, suspicions, type Paid } from './commands/earn.js';
import { applyRefunded, closeDispute, openDispute } from './commands/obligation.js';
import { convertClaims, endClaims, offerClaims } from './commands/win-back.js';

const paid = handle(paymentPaid, (ctx: Context, event) => earn(ctx, event));
const refunded = handle(paymentRefunded, (ctx: Context, event) => applyRefunded(ctx, event));
const disputed = handle(paymentDisputeCreated, (ctx: Context, { data }) => openDispute(ctx, data));
const decided = handle(paymentDisputeClosed, (ctx: Context, { data }) => closeDispute(ctx, data));

const signedUp = handle(userCreated, (ctx: Context, { user_id: userId, occurred_at }) => openWindow(ctx, userId!, new Date(occurred_at)));

const started = handle(winBackStarted, (ctx: Context, { user_id: userId, data }) => offerClaims(ctx, userId!, data));
const lapsed = handle(membershipLapsed, (ctx: Context, { user_id: userId, data }) => endClaims(ctx, userId!, data));
const back = handle(membershipReactivated, (ctx: Context, { user_id: userId, data }) => convertClaims(ctx, userId!, data));

/** Sign-ups stand before purchases in one queue; of a purchase alone something is asked before its transaction. Source: affiliates 5. */
export const consumers: readonly Consumer<Context>[] = [
  {
    name: 'affiliates.purchases',
    on: [signedUp, paid, refunded, disputed, decided],
    prepare: (ctx, event) => (event.type === paymentPaid.name ? suspicions.run(ctx, event as Paid) : Promise.resolve(undefined)),
    passOver: (_ctx, event, facts) => (event.type === paymentPaid.name ? earnsNobody(event as Paid, facts) : null),
  },
  { name: 'affiliates.win_back', on: [started, lapsed, back] },
];
