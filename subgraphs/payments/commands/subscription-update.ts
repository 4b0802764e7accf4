import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Problem } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { PaymentMethodStatus } from '../entities/enums-payment.js';
import { Invoice } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { BillingSubscription } from '../entities/subscription.js';
import {
  BillingProration,
  type BillingEffective,
  type ChangeBillingCadenceInput,
  type UpdateBillingSubscriptionInput,
} from '../inputs/subscription.js';
import { brandTerms, type BrandTerms } from '../ports/brand-terms.js';
import { isOver } from '../rules/subscription-states.js';
import { dropPlanned } from './change-effect.js';
import { applyCharged, callInvoice, declineOf } from './invoice-charging.js';
import { postKeptCredit } from './kept-credit.js';
import { lockOwn, requireOwn } from './own-subscription.js';
import { previewAt } from './preview-token.js';
import { beginChange, planChange, priceAtCadence, requireSamePlan, type Wanted } from './subscription-change.js';
import { endLater, endNotLater } from './subscription-end.js';
import { priceOf } from './subscription-state.js';

type Update = { input: UpdateBillingSubscriptionInput };
type Cadence = { input: ChangeBillingCadenceInput };

/** How the subscription's brand bills. */
export const changeTerms = preparation(async (ctx: Context, { input }: Update | Cadence): Promise<BrandTerms> => {
  const { brandId } = await requireOwn(ctx, input.id);
  return brandTerms(ctx, brandId);
});

const VERSION = /^(?:W\/)?"?(\d{1,9})"?$/;

/** `If-Match`: the version that the change is for. @throws Problem conflict for an older one, invalid_request for what is no version. */
function requireMatch({ request: { ifMatch } }: Context, { version }: BillingSubscription): void {
  if (ifMatch === null || ifMatch === '*') return;
  const known = VERSION.exec(ifMatch)?.[1];
  if (known === undefined) fail('invalid_request', 'If-Match is no version');
  if (Number(known) !== version) fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
}

function requireAllowed(ctx: Context, { proration, priceId, quantity }: UpdateBillingSubscriptionInput): void {
  const isService = ctx.caller.kind === 'service';
  requireValid([
    ...(proration === BillingProration.NONE && !isService ? [{ pointer: '/input/proration', message: 'none is for services' }] : []),
    ...(priceId === null ? [{ pointer: '/input/priceId', message: 'cannot be removed' }] : []),
    ...(quantity === null ? [{ pointer: '/input/quantity', message: 'cannot be removed' }] : []),
  ]);
}

async function setMethod(ctx: Context, subscription: BillingSubscription, id: string | null): Promise<void> {
  const where = { id: id?.toLowerCase() ?? '', customerId: subscription.customerId, status: PaymentMethodStatus.ACTIVE };
  if (id !== null && !(await findRow(ctx, PaymentMethod, where))) invalid('/input/paymentMethodId', 'is no method of the customer');
  subscription.paymentMethodId = id?.toLowerCase() ?? null;
}

/** All that needs no money. */
async function setPlain(ctx: Context, subscription: BillingSubscription, input: UpdateBillingSubscriptionInput): Promise<void> {
  const { paymentMethodId, metadata, cancelAtPeriodEnd } = input;
  if (paymentMethodId !== undefined) await setMethod(ctx, subscription, paymentMethodId);
  if (metadata !== undefined) subscription.metadata = metadata ?? {};
  if (cancelAtPeriodEnd === true && !subscription.cancelAtPeriodEnd) await endLater(ctx, subscription, 'member_request');
  if (cancelAtPeriodEnd === false) await endNotLater(ctx, subscription);
  if (paymentMethodId === undefined && metadata === undefined) return;
  subscription.version += 1;
  ctx.audit('subscription.updated', subscription.id, { changed: Object.keys(input).filter(name => name !== 'id') });
}

interface Changing extends Wanted {
  previewToken: string | null;
}

/** Begins the change of plan. @returns what the intent is: the invoice to be paid, else the subscription. */
async function begin(ctx: Context, subscription: BillingSubscription, { previewToken, ...wanted }: Changing): Promise<string> {
  const terms = changeTerms.of(ctx);
  const at = previewToken === null ? ctx.now() : previewAt(ctx, previewToken, subscription, wanted);
  const plan = await planChange(ctx, subscription, wanted, terms, at);
  if (!plan) {
    await dropPlanned(ctx, subscription); // back to what it is
    return subscription.id;
  }
  return (await beginChange(ctx, subscription, plan, terms, wanted.offSession)).invoiceId ?? subscription.id;
}

const isAbsent = ({ caller }: Context, { userId }: BillingSubscription): boolean => caller.userId !== userId;
const textOf = (effective: BillingEffective | null | undefined): Wanted['effective'] => effective ?? null;

async function intendUpdate(ctx: Context, { input }: Update): Promise<string> {
  requireAllowed(ctx, input);
  const subscription = await lockOwn(ctx, input.id);
  requireMatch(ctx, subscription);
  if (isOver(subscription.status)) fail('conflict', `a subscription that is ${subscription.status.replaceAll('_', ' ')} cannot change`);
  await setPlain(ctx, subscription, input);
  const { priceId, quantity, effective, proration, previewToken } = input;
  if (priceId == null && quantity == null) return subscription.id;
  const from = await priceOf(ctx, subscription);
  return begin(ctx, subscription, {
    price: priceId == null || priceId.toLowerCase() === from.id ? from : await requireSamePlan(ctx, subscription, from, priceId),
    quantity: quantity ?? subscription.quantity,
    effective: textOf(effective),
    isProrated: proration !== BillingProration.NONE,
    offSession: isAbsent(ctx, subscription),
    previewToken: previewToken ?? null,
  });
}

async function intendCadence(ctx: Context, { input }: Cadence): Promise<string> {
  const subscription = await lockOwn(ctx, input.id);
  return begin(ctx, subscription, {
    price: await priceAtCadence(ctx, subscription, input.interval, input.intervalCount),
    quantity: subscription.quantity,
    effective: textOf(input.effective),
    isProrated: true,
    offSession: isAbsent(ctx, subscription),
    previewToken: null,
  });
}

/** The intent is the invoice of the change, else the subscription itself. */
const callChange = async (ctx: Context, { id }: { id: string }) => {
  const invoice = await findRow(ctx, Invoice, { id });
  if (invoice) await postKeptCredit(ctx.host, invoice.id);
  return callInvoice(ctx, invoice?.id ?? null);
};

export const updating = twoPhases({ intend: intendUpdate, call: callChange });
export const changingCadence = twoPhases({ intend: intendCadence, call: callChange });

/** Transaction 2 of either. @returns the subscription, or the problem that what the change costs was declined; then nothing has changed. */
export async function changed(ctx: Context, phases: typeof updating | typeof changingCadence): Promise<BillingSubscription | Problem> {
  const { intent, outcome } = phases.of(ctx);
  const payment = await applyCharged(ctx, outcome);
  const invoice = await findRow(ctx, Invoice, { id: intent.id });
  const subscription = await requireRow(ctx, BillingSubscription, { id: invoice?.subscriptionId ?? intent.id });
  return declineOf(payment) ?? lockRow(ctx, BillingSubscription, { id: subscription.id });
}
