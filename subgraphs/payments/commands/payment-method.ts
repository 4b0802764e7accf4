import { createHmac } from 'node:crypto';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { BillingCustomer } from '../entities/customer.js';
import { DeclineCategory, PaymentMethodStatus, PaymentMethodType } from '../entities/enums-payment.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { opened, sealed } from '../entities/sealed.js';
import { pepperOf } from '../ports/gift-pepper.js';
import type { ProcessorMethod, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { ensureAtProcessor } from './customer.js';
import { defaultMethodChanged } from './default-method.js';

type Attached = ProcessorResult<ProcessorMethod>;

const TOKEN = 'payment_method_token';
const ADDRESS = 'payment_method';

/** The processor's token of a method. */
export const tokenOf = (ctx: Context, { id, tokenSealed }: PaymentMethod): string => opened<string>(ctx, tokenSealed, TOKEN, id)!;

/** Same for the same card or account, and of no use to anybody else. */
export const fingerprintOf = (host: ServiceHost, fingerprint: string): Buffer =>
  createHmac('sha256', pepperOf(host)).update(`method:${fingerprint}`).digest();

/**
 * A method that is to be attached: hidden as DETACHED, and its id is the key of the call, so that a repeat attaches nothing twice.
 * {@link completeMethod} goes on with it.
 */
export function draftMethod(ctx: Context, customer: BillingCustomer, token: string): PaymentMethod {
  const method = Object.assign(new PaymentMethod(), {
    customerId: customer.id,
    userId: customer.userId,
    type: PaymentMethodType.CARD,
    status: PaymentMethodStatus.DETACHED,
    createdAt: ctx.now(),
  });
  method.tokenSealed = sealed(ctx, token, TOKEN, method.id);
  ctx.em.persist(method);
  return method;
}

export const isDraft = ({ status, detachedAt, tokenSealed }: PaymentMethod): boolean =>
  status === PaymentMethodStatus.DETACHED && detachedAt === null && tokenSealed !== null;

/** Attaches a drafted method at the processor; outside transactions. */
export async function callAttach(host: ServiceHost, method: PaymentMethod): Promise<Attached> {
  const customerId = await ensureAtProcessor(host, method.customerId);
  return host.read(ctx =>
    processorOf(host).attachMethod({ customerId, token: tokenOf(ctx, method) }, { idempotencyKey: method.id, clock: ctx.clock }),
  );
}

const sealedAddress = (ctx: Context, { billingAddress }: ProcessorMethod, id: string): Buffer | null =>
  billingAddress?.line1 && billingAddress.city && billingAddress.countryCode ? sealed(ctx, billingAddress, ADDRESS, id) : null;

function fill(ctx: Context, method: PaymentMethod, { id, type, card, bankLast4, ...found }: ProcessorMethod, fingerprint: Buffer): void {
  Object.assign(method, {
    type,
    status: PaymentMethodStatus.ACTIVE,
    tokenSealed: sealed(ctx, id, TOKEN, method.id),
    fingerprint,
    cardBrand: card?.brand ?? null,
    cardLast4: card?.last4 ?? null,
    cardExpMonth: card?.expMonth ?? null,
    cardExpYear: card?.expYear ?? null,
    cardFunding: card?.funding ?? null,
    cardCountry: card?.country ?? null,
    cardWallet: card?.wallet ?? null,
    bankLast4,
    billingAddressSealed: sealedAddress(ctx, { id, type, card, bankLast4, ...found }, method.id),
  });
}

/** Makes a method the default of its customer, whose row is locked. */
export async function makeDefault(ctx: Context, method: PaymentMethod): Promise<void> {
  if (method.isDefault) return;
  await ctx.em.flush(); // one default at a time: the unique index is not deferred
  await ctx.sql('update payments.payment_method set is_default = false where customer_id = $1 and is_default', [method.customerId]);
  method.isDefault = true;
  await ctx.em.flush();
  await defaultMethodChanged(ctx, method);
}

/** What the processor refuses to attach. @param pointer where the token stands in the input. */
export function attachRefusal(result: Exclude<Attached, { status: 'succeeded' }>, pointer = '/input/token'): Problem {
  if (result.status !== 'declined') return new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
  const { code, category } = result.decline;
  if (category === DeclineCategory.PROCESSOR_ERROR)
    return new Problem('invalid_request', 'The input is invalid', { errors: [{ pointer, message: 'is no token of a method' }] });
  return new Problem('payment_declined', 'The method was declined', { members: { declineCode: code, category, retryable: false } });
}

interface Completed {
  method: PaymentMethod;
  /** The customer had the same card or account. */
  isKnown: boolean;
}

/** A drafted method that the processor has attached: the customer's method from now on, or the one that the customer has. */
export async function completeMethod(ctx: Context, methodId: string, found: ProcessorMethod, asDefault: boolean): Promise<Completed> {
  const draft = await lockRow(ctx, PaymentMethod, { id: methodId });
  await lockRow(ctx, BillingCustomer, { id: draft.customerId });
  if (!isDraft(draft)) return { method: draft, isKnown: true };
  const fingerprint = fingerprintOf(ctx.host, found.fingerprint);
  const live = await ctx.em.find(PaymentMethod, { customerId: draft.customerId, status: { $ne: PaymentMethodStatus.DETACHED } });
  const known = live.find(one => one.fingerprint?.equals(fingerprint));
  if (known) await replaceToken(ctx, known, draft, found);
  else {
    fill(ctx, draft, found, fingerprint);
    ctx.audit('payment_method.attached', draft.id, { type: draft.type });
  }
  const method = known ?? draft;
  if (asDefault || live.length === 0) await makeDefault(ctx, method);
  return { method, isKnown: known !== undefined };
}

/** The same card again: its newer token takes the place of the older one, because wallets and test tokens differ by it. */
async function replaceToken(ctx: Context, known: PaymentMethod, draft: PaymentMethod, found: ProcessorMethod): Promise<void> {
  fill(ctx, known, found, known.fingerprint!);
  ctx.em.remove(draft);
  ctx.audit('payment_method.attached', known.id, { type: known.type, again: true });
}

/** A method of a customer that can be charged. @throws Problem invalid_request at `pointer`. */
export async function chargeableMethod(
  ctx: Context,
  { userId, customerId }: { userId: string; customerId: string },
  id: string,
): Promise<PaymentMethod | null> {
  const method = await ctx.em.findOne(PaymentMethod, { id, userId, customerId, status: { $ne: PaymentMethodStatus.DETACHED } });
  return method;
}

const LIVE_SUBSCRIPTION = `select 1 from payments.billing_subscription
  where customer_id = $1 and status in ('trialing', 'active', 'past_due', 'paused', 'incomplete') and source = 'purchase' limit 1`;

/** @throws Problem conflict for the last method of a customer whose subscription is live. */
async function requireNotLast(ctx: Context, { id, customerId }: PaymentMethod): Promise<void> {
  const others = await ctx.em.count(PaymentMethod, { customerId, id: { $ne: id }, status: { $ne: PaymentMethodStatus.DETACHED } });
  if (others > 0) return;
  const [live] = await ctx.sql(LIVE_SUBSCRIPTION, [customerId]);
  if (live) fail('conflict', 'The last method of a live subscription cannot be detached', { reason: 'last_method' });
}

/** Detaches here; the processor is asked next. Again, while it was not told: nothing. @throws Problem not_found, conflict. */
export async function detachMethod(ctx: Context, where: { id: string; userId?: string }): Promise<PaymentMethod> {
  const method = await lockRow(ctx, PaymentMethod, where, 'No such payment method');
  if (method.status === PaymentMethodStatus.DETACHED && (method.detachedAt === null || method.tokenSealed === null))
    fail('not_found', 'No such payment method');
  if (method.status === PaymentMethodStatus.DETACHED) return method;
  await lockRow(ctx, BillingCustomer, { id: method.customerId });
  await requireNotLast(ctx, method);
  const wasDefault = method.isDefault;
  Object.assign(method, { status: PaymentMethodStatus.DETACHED, isDefault: false, detachedAt: ctx.now() });
  ctx.audit('payment_method.detached', method.id);
  if (wasDefault) await passDefaultOn(ctx, method);
  return method;
}

/** The newest other method is the default then. */
async function passDefaultOn(ctx: Context, { id, customerId }: PaymentMethod): Promise<void> {
  const where = { customerId, id: { $ne: id }, status: PaymentMethodStatus.ACTIVE };
  const [next] = await ctx.em.find(PaymentMethod, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: 1 });
  if (next) await makeDefault(ctx, next);
}

/** Tells the processor of a method that is detached; outside transactions. */
export async function callDetach(host: ServiceHost, methodId: string): Promise<boolean> {
  const method = await host.read(ctx => ctx.em.findOneOrFail(PaymentMethod, { id: methodId }));
  const customerId = await ensureAtProcessor(host, method.customerId);
  const result = await host.read(ctx =>
    processorOf(host).detachMethod(
      { customerId, methodId: tokenOf(ctx, method) },
      { idempotencyKey: `detach:${methodId}`, clock: ctx.clock },
    ),
  );
  return result.status !== 'unknown';
}
