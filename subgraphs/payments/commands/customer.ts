import { FOR_UPDATE, lockFound, lockRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { BillingCustomer } from '../entities/customer.js';
import { opened, sealed } from '../entities/sealed.js';
import { processorOf } from '../ports/processors.js';

interface Buyer {
  userId: string;
  brandId: string;
  /** Of the brand; fixed with the first payment. */
  currency: string;
  email: string | null;
}

const MAKE = `
insert into payments.billing_customer (id, user_id, brand_id, processor, currency, created_at) values ($1, $2, $3, $4, $5, $6)
on conflict (user_id, brand_id, processor) do nothing returning id`;

/** Makes a customer, unless another request does so at the same time. */
async function makeCustomer(
  ctx: Context,
  own: Pick<BillingCustomer, 'userId' | 'brandId' | 'processor'>,
  currency: string,
): Promise<BillingCustomer> {
  const { userId, brandId, processor } = own;
  const { id } = new BillingCustomer();
  const [made] = await ctx.sql<{ id: string }>(MAKE, [id, userId, brandId, processor, currency, ctx.now().toISOString()]);
  const customer = await lockRow(ctx, BillingCustomer, own);
  if (made) ctx.audit('customer.created', customer.id, { brand_id: brandId });
  return customer;
}

/** The customer that a user is at a brand, made with the first purchase; locked. */
export async function lockCustomer(ctx: Context, { userId, brandId, currency, email }: Buyer): Promise<BillingCustomer> {
  const own = { userId, brandId, processor: processorOf(ctx.host).name };
  const customer = (await lockFound(ctx, BillingCustomer, own)) ?? (await makeCustomer(ctx, own, currency));
  if (email !== null && customer.emailSealed === null) customer.emailSealed = sealed(ctx, email, 'billing_customer', customer.id);
  return customer;
}

/** A user's customer at a brand, where there is one. */
export const customerOf = (ctx: Context, userId: string, brandId: string): Promise<BillingCustomer | null> =>
  ctx.em.findOne(BillingCustomer, { userId, brandId, processor: processorOf(ctx.host).name });

/**
 * The processor's id of a customer, made there where it has none; outside transactions. The customer's id is the key.
 * @throws Problem unavailable.
 */
export async function ensureAtProcessor(host: ServiceHost, customerId: string): Promise<string> {
  const customer = await host.read(ctx => ctx.em.findOneOrFail(BillingCustomer, { id: customerId }));
  if (customer.processorRef !== null) return customer.processorRef;
  const made = await host.read(ctx => {
    const email = opened<string>(ctx, customer.emailSealed, 'billing_customer', customer.id);
    const call = { idempotencyKey: customer.id, clock: ctx.clock };
    return processorOf(host).ensureCustomer({ userId: customer.userId, brandId: customer.brandId, email }, call);
  });
  if (made.status !== 'succeeded') throw new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
  await host.transaction(async ctx => {
    const row = await ctx.em.findOneOrFail(BillingCustomer, { id: customerId }, { ...FOR_UPDATE, refresh: true });
    row.processorRef ??= made.data.id;
  });
  return made.data.id;
}
