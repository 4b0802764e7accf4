import { subscriptionCreated } from '../../../events/catalogue/payments.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import type { PersonalData } from '../entities/cart.js';
import { CadenceUnit, OrderSource, ScheduledOrderStatus } from '../entities/enums.js';
import type { Order } from '../entities/order.js';
import { ProductSubscription } from '../entities/subscription.js';
import type { CreateProductSubscriptionInput } from '../inputs/subscription.js';
import { addressOf } from '../ports/addresses.js';
import { brandOf, type Brand } from '../ports/brands.js';
import { paymentsOf } from '../ports/payments.js';
import { offeredVariants, type Offered } from '../queries/cart-lines.js';
import type { ItemRow as OrderItemRow } from '../queries/order.js';
import { personalOf } from '../queries/priced-cart.js';
import { addDays, cadenceFrom, dateIn, dayOf, isCadence, nextDate, type CadenceOf } from '../rules/cadence.js';
import { unitPriceOf, type CycleOf } from '../rules/cycles.js';
import { addressFrom } from '../rules/personal.js';
import { NOBODY, sealPersonal } from './personal.js';
import { refusedProducts } from './checkout-facts.js';
import { scheduleCycle } from './subscription-cycle.js';
import { offersOf, writeSubscriptionItems, type SubscribedLine } from './subscription-offer.js';

/** How far ahead the first order may be, days. Source: commerce 4.3. */
const FIRST_WITHIN_DAYS = 90;
type Asked = { input: CreateProductSubscriptionInput };

/** What must be known before the transaction. */
interface Facts {
  userId: string;
  brand: Brand;
  currency: string;
  country: string;
  personal: PersonalData;
}

export function requireCadence(cadence: CadenceOf): void {
  if (!isCadence(cadence)) invalid('/input/cadence/count', 'is 1 to 26 weeks or 1 to 12 months');
}

async function personalFor(ctx: Context, userId: string, input: CreateProductSubscriptionInput): Promise<PersonalData> {
  const { addressId, shippingAddress, recipientName = null, phone = null } = input;
  if (addressId != null) {
    const { address, ...known } = await addressOf(ctx, userId, addressId);
    return {
      ...NOBODY,
      shippingAddress: address,
      billingAddress: address,
      recipientName: recipientName ?? known.recipientName,
      phone: phone ?? known.phone,
    };
  }
  const address = shippingAddress ? addressFrom(shippingAddress) : null;
  return { shippingAddress: address, billingAddress: address, recipientName, phone };
}

/** Everything that is wrong with where it is to be sent, and when. */
function violationsOf(
  input: CreateProductSubscriptionInput,
  offered: readonly Offered[],
  { personal, brand }: Facts,
  now: Date,
): Violation[] {
  const found: Violation[] = [];
  const today = dateIn(now, input.timeZone ?? brand.timeZone);
  const first = input.firstOrderOn ?? today;
  if (first < today || first > addDays(today, FIRST_WITHIN_DAYS))
    found.push({ pointer: '/input/firstOrderOn', message: `must be today to ${FIRST_WITHIN_DAYS} days from now` });
  if (input.addressId != null && input.shippingAddress)
    found.push({ pointer: '/input/addressId', message: 'only one of addressId and shippingAddress' });
  if (!offered.some(one => one.requiresShipping)) return found;
  if (!personal.shippingAddress) found.push({ pointer: '/input/shippingAddress', message: 'is required for what is shipped' });
  else if (!personal.recipientName) found.push({ pointer: '/input/recipientName', message: 'is required for what is shipped' });
  return found;
}

/** The first of the variants that is there says whose shop it is. @throws Problem conflict `offer_not_available`. */
async function brandOfVariants(ctx: Context, ids: readonly string[]): Promise<Brand> {
  const text = `select p.brand_id as "brandId" from commerce.product_variant v join commerce.product p on p.id = v.product_id where v.id = any($1) limit 1`;
  const [row] = await ctx.sql<{ brandId: string }>(text, [ids]);
  return row
    ? brandOf(ctx.host, { id: row.brandId })
    : fail('conflict', 'It is not offered in this rhythm', { reason: 'offer_not_available' });
}

const idsOf = ({ items }: CreateProductSubscriptionInput): string[] => items.map(one => one.variantId.toLowerCase());

/** @throws Problem invalid_request, not_found, conflict, forbidden `requirement_not_met`, unavailable. */
export const subscriptionFacts = preparation(async (ctx: Context, { input }: Asked): Promise<Facts> => {
  requireCadence(input.cadence);
  const userId = ctx.subject(input.userId).toLowerCase();
  const brand = await brandOfVariants(ctx, idsOf(input));
  const personal = await personalFor(ctx, userId, input);
  const country = personal.shippingAddress?.countryCode ?? brand.countries[0] ?? '';
  const facts: Facts = { userId, brand, currency: brand.defaultCurrency, country, personal };
  const offered = [...(await offeredVariants(ctx, idsOf(input), facts)).values()];
  requireValid(violationsOf(input, offered, facts, ctx.now()));
  if (!(await paymentsOf(ctx.host).hasMethod(userId, input.paymentMethodId))) fail('not_found', 'No such payment method');
  if ((await refusedProducts(ctx, userId, offered)).size > 0)
    fail('forbidden', 'Something of it may not be bought without more', { reason: 'requirement_not_met' });
  return facts;
});

type Draft = Pick<
  ProductSubscription,
  'userId' | 'brandId' | 'currency' | 'country' | 'timeZone' | 'paymentMethodId' | 'shippingMethodCode'
> &
  Partial<ProductSubscription> & { cadence: CadenceOf; personalData: PersonalData | null };

/** A subscription that waits for a cycle. */
async function make(
  ctx: Context,
  { cadence, personalData, ...draft }: Draft,
  lines: readonly SubscribedLine[],
  next: CycleOf,
  anchorOn: string,
) {
  const made = Object.assign(new ProductSubscription(), draft, {
    cadenceUnit: cadence.unit,
    cadenceCount: cadence.count,
    anchorDay: cadence.unit === CadenceUnit.MONTH ? dayOf(anchorOn) : null,
    cycleIndex: next.cycleIndex,
    nextOrderOn: next.orderOn,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  });
  made.personal = sealPersonal(ctx, personalData, 'product_subscription', made.id);
  await ctx.em.persist(made).flush();
  await writeSubscriptionItems(ctx, made.id, lines);
  const { id, userId, brandId } = made;
  const data = {
    kind: 'product' as const,
    subscription_id: id,
    brand_id: brandId,
    cadence_unit: cadence.unit,
    cadence_count: cadence.count,
  };
  ctx.emit(subscriptionCreated, { ...data, next_order_on: next.orderOn, item_count: lines.length }, { userId, brandId });
  ctx.audit('product_subscription.created', id, { items: lines.length });
  return made;
}

/** @throws Problem conflict `offer_not_available`. */
export async function createProductSubscription(ctx: Context, input: CreateProductSubscriptionInput): Promise<ProductSubscription> {
  const { userId, brand, currency, country, personal } = subscriptionFacts.of(ctx);
  const { cadence, outOfStock, paymentMethodId, shippingMethodCode = null } = input;
  const offers = await offersOf(ctx, idsOf(input), { brandId: brand.id, currency, country, cadence });
  const lines = offers.map(({ offered, unitPrice, discountBps }, index) => ({
    variantId: offered.variantId,
    quantity: input.items[index]!.quantity,
    unitPrice,
    discountBps,
  }));
  const timeZone = input.timeZone ?? brand.timeZone;
  const first = { cycleIndex: 0, orderOn: input.firstOrderOn ?? dateIn(ctx.now(), timeZone) };
  const terms = { userId, brandId: brand.id, currency, country, timeZone, paymentMethodId, shippingMethodCode, outOfStock };
  const made = await make(ctx, { ...terms, cadence, personalData: personal }, lines, first, first.orderOn);
  scheduleCycle(ctx, made, first);
  return made;
}

/** What a line was bought for is what it costs again; the discount of its cadence is kept apart where it explains the price. */
function boughtLine(line: OrderItemRow, offered: Offered | undefined, cadence: CadenceOf): SubscribedLine {
  const { variantId, quantity, unitPrice: paid } = line;
  const offer = offered?.offers.find(one => one.cadence.unit === cadence.unit && one.cadence.count === cadence.count);
  const listed = offered?.amount ?? null;
  const explains = listed !== null && offer !== undefined && unitPriceOf({ unitPrice: listed, discountBps: offer.discountBps }) === paid;
  return { variantId, quantity, unitPrice: explains ? listed : paid, discountBps: explains ? offer.discountBps : 0 };
}

/** What a placed order's lines with a cadence begin: one subscription for each cadence, whose first cycle this order is. */
export async function subscribeToOrder(ctx: Context, order: Order, items: readonly OrderItemRow[]): Promise<void> {
  const { userId, brandId, currency, payment, shippingMethodCode } = order;
  if (order.source !== OrderSource.WEB || userId === null || payment.paymentMethodId == null) return;
  const again = Map.groupBy(
    items.filter(one => one.cadence !== ''),
    one => one.cadence,
  );
  const timeZone = payment.timeZone ?? 'UTC';
  for (const [key, lines] of again) {
    const cadence = cadenceFrom(key)!;
    const country = order.country ?? '';
    const offered = await offeredVariants(
      ctx,
      lines.map(one => one.variantId),
      { currency, country },
    );
    const today = dateIn(ctx.now(), timeZone);
    const anchorDay = cadence.unit === CadenceUnit.MONTH ? dayOf(today) : null;
    const next = { cycleIndex: 1, orderOn: nextDate(today, cadence, anchorDay) };
    const terms = { userId, brandId, currency, country, timeZone, paymentMethodId: payment.paymentMethodId, shippingMethodCode };
    const subscribed = lines.map(line => boughtLine(line, offered.get(line.variantId), cadence));
    const made = await make(ctx, { ...terms, cadence, personalData: personalOf(ctx, order, 'shop_order') }, subscribed, next, today);
    const bought = scheduleCycle(ctx, made, { cycleIndex: 0, orderOn: today });
    Object.assign(bought, { status: ScheduledOrderStatus.PLACED, orderId: order.id, nextAttemptAt: null });
    scheduleCycle(ctx, made, next);
  }
}
