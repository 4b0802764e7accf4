import type { Context } from '../../../runtime/request/context.js';
import type { Cart, PersonalData } from '../entities/cart.js';
import { CartProblemCode, CartStatus, ProductStatus } from '../entities/enums.js';
import type { Brand } from '../ports/brands.js';
import { paymentsOf, type PromoCase, type PromoJudgement } from '../ports/payments.js';
import { shippingRates, type ShippingRate } from '../ports/shipping.js';
import { hasOutsideTax, quoteTax, tableRates, type TaxableLine, type TaxPlace, type TaxQuote, type TaxRate } from '../ports/tax.js';
import { cadenceFrom, sameCadence } from '../rules/cadence.js';
import { shareOf } from '../rules/money.js';
import { price, type PricedLine, type PricedTotals } from '../rules/pricing.js';
import { cartLines, type CartLine } from './cart-lines.js';

export interface Problem {
  code: CartProblemCode;
  itemId: string | null;
  blocking: boolean;
  message: string;
  expected: string | null;
  actual: string | null;
}

export interface PricedCartLine extends CartLine, PricedLine {
  /** After the discount of its cadence; null: not sold here. */
  unitPrice: number | null;
  rate: TaxRate | null;
}

/** A cart as it costs now. */
export interface PricedCart {
  lines: PricedCartLine[];
  totals: PricedTotals & { estimated: boolean };
  problems: Problem[];
  options: ShippingRate[];
  method: ShippingRate | null;
  promo: PromoJudgement | null;
  taxLines: { jurisdiction: string; name: string; ratePpm: number; amount: number }[];
}

/** What is not in the database: found out before a transaction, or while none runs. */
export interface OutsideFacts {
  promo?: { case: PromoCase; judgement: PromoJudgement } | null;
  tax?: TaxQuote | null;
  brand?: Brand;
}

/** The unit price of a line; null where it is not sold, or not in that cadence. */
export function unitPriceOf({
  amount,
  status,
  offers,
  cadence,
}: Pick<CartLine, 'amount' | 'status' | 'offers' | 'cadence'>): number | null {
  if (amount === null || status !== ProductStatus.ACTIVE) return null;
  const wanted = cadenceFrom(cadence);
  if (!wanted) return amount;
  const offer = offers.find(one => sameCadence(one.cadence as typeof wanted, wanted));
  return offer ? amount - shareOf(amount, offer.discountBps) : null;
}

const sold = (lines: readonly CartLine[]): CartLine[] => lines.filter(line => unitPriceOf(line) !== null);

/** Lines as a promo sees them. */
export function promoCaseOf(cart: Pick<Cart, 'brandId' | 'userId' | 'currency'>, code: string, lines: readonly CartLine[]): PromoCase {
  const { brandId, userId, currency } = cart;
  const asked = sold(lines).map(line => ({
    variantId: line.variantId,
    quantity: line.quantity,
    subtotal: unitPriceOf(line)! * line.quantity,
  }));
  return { code, brandId, userId, currency, lines: asked };
}

const isSameCase = (a: PromoCase, b: PromoCase): boolean =>
  a.code === b.code && a.userId === b.userId && JSON.stringify(a.lines) === JSON.stringify(b.lines);

const problem = (code: CartProblemCode, message: string, more: Partial<Problem> = {}): Problem => ({
  code,
  message,
  itemId: null,
  blocking: code !== CartProblemCode.PRICE_CHANGED,
  expected: null,
  actual: null,
  ...more,
});

function stockProblem({ id, quantity, takeable, lostCover }: CartLine): Problem | null {
  if (takeable >= quantity) return null;
  const code = takeable === 0 && !lostCover ? CartProblemCode.OUT_OF_STOCK : CartProblemCode.INSUFFICIENT_STOCK;
  return problem(code, `${Math.max(0, takeable)} available`, {
    itemId: id,
    expected: String(quantity),
    actual: String(Math.max(0, takeable)),
  });
}

function lineProblems(lines: readonly CartLine[]): Problem[] {
  const ofVariant = (id: string): number => lines.filter(one => one.variantId === id).reduce((sum, one) => sum + one.quantity, 0);
  return lines.flatMap(line => {
    const unit = unitPriceOf(line);
    const found: (Problem | null)[] = [];
    if (unit === null) found.push(problem(CartProblemCode.UNAVAILABLE, 'It is not sold here', { itemId: line.id }));
    else if (unit !== line.unitPriceWhenAdded)
      found.push(
        problem(CartProblemCode.PRICE_CHANGED, 'Its price has changed', {
          itemId: line.id,
          expected: String(line.unitPriceWhenAdded),
          actual: String(unit),
        }),
      );
    if (ofVariant(line.variantId) > line.maxPerOrder)
      found.push(
        problem(CartProblemCode.OVER_MAX_QUANTITY, `At most ${line.maxPerOrder}`, { itemId: line.id, expected: String(line.maxPerOrder) }),
      );
    found.push(stockProblem(line));
    return found.filter(one => one !== null);
  });
}

/** What to ask of others for a cart as it is now; outside transactions. @param strict a checkout waits for taxes, a look takes the table. */
export async function outsideFacts(
  ctx: Context,
  cart: Cart,
  personal: PersonalData | null,
  lines: readonly CartLine[],
  strict: boolean,
): Promise<OutsideFacts> {
  const asked = cart.promoCode === null ? null : promoCaseOf(cart, cart.promoCode, lines);
  const judgement = asked === null || asked.lines.length === 0 ? null : await judged(ctx, asked, strict);
  const promo = asked && judgement ? { case: asked, judgement } : null;
  if (!hasOutsideTax(ctx)) return { promo };
  const first = await priceCart(ctx, cart, personal, lines, { promo });
  const taxable = first.lines.filter(one => one.unitPrice !== null).map(taxableOf);
  const tax = await quoteTax(ctx, placeOf(cart, personal), cart.currency, taxable).catch(error => {
    if (strict) throw error;
    return null;
  });
  return { promo, tax };
}

/** A look at a cart goes on without payments; a checkout does not. */
async function judged(ctx: Context, asked: PromoCase, strict: boolean): Promise<PromoJudgement | null> {
  return paymentsOf(ctx.host)
    .validatePromo(asked)
    .catch(error => {
      if (strict) throw error;
      return null;
    });
}

const taxableOf = (line: PricedCartLine): TaxableLine => ({
  reference: line.id,
  category: line.taxCategory,
  amount: line.subtotal - line.discount,
  quantity: line.quantity,
  taxInclusive: line.taxInclusive,
});

function placeOf(cart: Cart, personal: PersonalData | null): TaxPlace {
  const address = personal?.shippingAddress ?? personal?.billingAddress;
  if (!address) return { country: cart.country, region: null };
  const { line1, city, postalCode, countryCode, region } = address;
  return { line1, city, postalCode, country: countryCode, region };
}

interface Shipping {
  options: ShippingRate[];
  method: ShippingRate | null;
  problems: Problem[];
}

async function shippingOf(
  ctx: Context,
  cart: Cart,
  personal: PersonalData | null,
  lines: readonly CartLine[],
  subtotal: number,
): Promise<Shipping> {
  const shipped = lines.filter(one => one.requiresShipping);
  if (shipped.length === 0) return { options: [], method: null, problems: [] };
  const address = personal?.shippingAddress;
  if (!address) return { options: [], method: null, problems: [problem(CartProblemCode.ADDRESS_REQUIRED, 'An address is needed')] };
  const nameless = personal.recipientName ? [] : [problem(CartProblemCode.ADDRESS_REQUIRED, "The address needs a recipient's name")];
  const grams = shipped.reduce((sum, one) => sum + one.weightGrams * one.quantity, 0);
  const options = await shippingRates(ctx, {
    brandId: cart.brandId,
    country: address.countryCode,
    currency: cart.currency,
    grams,
    subtotal,
  });
  if (options.length === 0)
    return { options, method: null, problems: [problem(CartProblemCode.ADDRESS_NOT_SERVED, 'There is no delivery to this country')] };
  if (cart.shippingMethodCode === null) return { options, method: options[0]!, problems: nameless };
  const method = options.find(one => one.code === cart.shippingMethodCode) ?? null;
  const missing = problem(CartProblemCode.SHIPPING_METHOD_UNAVAILABLE, 'It cannot be shipped in this way');
  return { options, method, problems: method ? nameless : [...nameless, missing] };
}

/** Discounts by sold line, null where the promo is not known for these lines. */
function discountsOf(cart: Cart, lines: readonly CartLine[], promo: OutsideFacts['promo']): number[] | null {
  if (cart.promoCode === null) return lines.map(() => 0);
  if (!promo || !isSameCase(promo.case, promoCaseOf(cart, cart.promoCode, lines))) return null;
  return lines.map((_, index) => promo.judgement.allocations.find(one => one.line === index)?.amount ?? 0);
}

function taxLinesOf(lines: readonly PricedCartLine[], quote: TaxQuote | null | undefined): PricedCart['taxLines'] {
  const found = new Map<string, PricedCart['taxLines'][number]>();
  const parts = quote
    ? quote.lines.map(({ jurisdiction, name, ppm, amount }) => ({ jurisdiction, name, ratePpm: ppm, amount }))
    : lines.flatMap(({ rate, tax }) =>
        rate ? [{ jurisdiction: rate.jurisdiction, name: rate.name, ratePpm: rate.ppm, amount: tax }] : [],
      );
  for (const part of parts) {
    const key = `${part.jurisdiction} ${part.name} ${part.ratePpm}`;
    const known = found.get(key);
    if (known) known.amount += part.amount;
    else found.set(key, { ...part });
  }
  return [...found.values()];
}

function promoProblems(cart: Cart, promo: OutsideFacts['promo']): Problem[] {
  if (cart.promoCode === null || !promo || promo.judgement.valid) return [];
  return [problem(CartProblemCode.PROMO_REJECTED, 'The code does not apply', { actual: promo.judgement.reason?.toLowerCase() ?? null })];
}

/** Prices a cart with the prices, the promo and the rates of this moment. Asks nobody outside. Source: commerce 2, 7. */
export async function priceCart(
  ctx: Context,
  cart: Cart,
  personal: PersonalData | null,
  lines: readonly CartLine[],
  facts: OutsideFacts,
): Promise<PricedCart> {
  const bought = sold(lines);
  const discounts = discountsOf(cart, bought, facts.promo);
  const rates = await tableRates(
    ctx,
    placeOf(cart, personal),
    bought.map(one => one.taxCategory),
  );
  const toPrice = bought.map(line => ({
    unitPrice: unitPriceOf(line)!,
    quantity: line.quantity,
    ppm: rates.get(line.taxCategory)?.ppm ?? 0,
    taxInclusive: line.taxInclusive,
  }));
  const goods = toPrice.reduce((sum, one) => sum + one.unitPrice * one.quantity, 0) - (discounts ?? []).reduce((sum, one) => sum + one, 0);
  const { options, method, problems } = await shippingOf(ctx, cart, personal, bought, goods);
  const quote = facts.tax?.amounts.length === bought.length ? facts.tax : null;
  const priced = price(toPrice, { lines: discounts ?? [] }, method?.amount ?? 0, quote?.amounts ?? null);
  const nothing: PricedLine = { subtotal: 0, discount: 0, tax: 0, total: 0 };
  const shown = lines.map((line): PricedCartLine => {
    const index = bought.indexOf(line);
    const part = index < 0 ? nothing : priced.lines[index]!;
    return { ...line, ...part, unitPrice: index < 0 ? null : toPrice[index]!.unitPrice, rate: rates.get(line.taxCategory) ?? null };
  });
  const estimated = discounts === null || (hasOutsideTax(ctx) && !quote) || !personal?.shippingAddress;
  return {
    lines: shown,
    totals: { ...priced.totals, estimated },
    problems: [
      ...lineProblems(lines),
      ...promoProblems(cart, facts.promo),
      ...problems,
      ...(cart.userId === null ? [problem(CartProblemCode.SIGN_IN_REQUIRED, 'A guest has to sign in first')] : []),
      ...cart.notes.map(note => problem(note.code, note.message, { itemId: note.itemId, blocking: false })),
    ],
    options,
    method,
    promo: facts.promo?.judgement ?? null,
    taxLines: taxLinesOf(
      shown.filter(one => one.unitPrice !== null),
      quote,
    ),
  };
}

/** What the running operation has priced already. */
const known = new WeakMap<Cart, Promise<PricedCart>>();

/** Keeps what a command has priced for the fields that show it. */
export const keepPriced = (cart: Cart, priced: PricedCart): void => void known.set(cart, Promise.resolve(priced));

/** Snapshots of a row; null where there are none. */
export const personalOf = (ctx: Context, row: { id: string; personal: Buffer | null }, table: string): PersonalData | null =>
  row.personal === null ? null : (JSON.parse(ctx.host.sealer.open(row.personal, `${table}:${row.id}`)) as PersonalData);

/** The cart as it costs now; once per request and cart. One that is no longer open shows its lines as they were left. */
export function pricedCart(ctx: Context, cart: Cart): Promise<PricedCart> {
  const found = known.get(cart);
  if (found) return found;
  const made = priceNow(ctx, cart);
  known.set(cart, made);
  return made;
}

async function priceNow(ctx: Context, cart: Cart): Promise<PricedCart> {
  const personal = personalOf(ctx, cart, 'cart');
  const lines = await cartLines(ctx, cart);
  const facts = ctx.inTransaction || cart.status !== CartStatus.ACTIVE ? {} : await outsideFacts(ctx, cart, personal, lines, false);
  return priceCart(ctx, cart, personal, lines, facts);
}
