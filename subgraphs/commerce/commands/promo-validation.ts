import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import type { CartPromoValidation } from '../entities/cart.js';
import { CartPromoKind, CartPromoReason } from '../entities/enums.js';
import type { ValidateCartPromoInput } from '../inputs/cart.js';
import { brandOf } from '../ports/brands.js';
import { paymentsOf, type PromoCase, type PromoJudgement } from '../ports/payments.js';
import { cartLines, offeredVariants } from '../queries/cart-lines.js';
import { promoCaseOf, unitPriceOf } from '../queries/priced-cart.js';
import { isCommerce, reachCart } from './cart-access.js';
import { callerKey, takeLimit } from './rate-limits.js';

async function caseOf(ctx: Context, { code, cartId, items, userId, guestToken }: ValidateCartPromoInput): Promise<PromoCase> {
  if ((cartId == null) === (items == null)) invalid('/input/items', 'exactly one of cartId and items is required');
  if (cartId != null) {
    const cart = await reachCart(ctx, cartId, guestToken);
    return promoCaseOf(cart, code, await cartLines(ctx, cart));
  }
  const brand = await brandOf(ctx.host, { fallbackId: ctx.caller.brandId });
  const market = { currency: brand.defaultCurrency, country: brand.countries[0] ?? '' };
  const offered = await offeredVariants(
    ctx,
    items!.map(one => one.variantId.toLowerCase()),
    market,
  );
  const lines = items!.map(({ variantId, quantity }, index) => {
    const sale = offered.get(variantId.toLowerCase());
    const unit = sale?.brandId === brand.id ? unitPriceOf({ ...sale, cadence: '' }) : null;
    if (unit === null)
      return fail('invalid_request', 'The input is invalid', {
        errors: [{ pointer: `/input/items/${index}/variantId`, message: 'is not sold here' }],
      });
    return { variantId: variantId.toLowerCase(), quantity, subtotal: unit * quantity };
  });
  const buyer = isCommerce(ctx) ? (userId?.toLowerCase() ?? null) : ctx.caller.userId;
  return { code, brandId: brand.id, userId: buyer, currency: market.currency, lines };
}

interface Judged {
  asked: PromoCase;
  judgement: PromoJudgement;
}

/** Asks payments, which judges and allocates; a cart's code or named goods. @throws Problem invalid_request, not_found, rate_limited, unavailable. */
export const promoJudgement = preparation(async (ctx: Context, { input }: { input: ValidateCartPromoInput }): Promise<Judged> => {
  const asked = await caseOf(ctx, input);
  if (asked.lines.length === 0) {
    const empty = {
      valid: false,
      code: input.code.trim().toUpperCase(),
      reason: 'NOT_APPLICABLE',
      kind: null,
      discount: 0,
      allocations: [],
    };
    return { asked, judgement: empty };
  }
  const judgement = await paymentsOf(ctx.host).validatePromo(asked);
  if (!judgement.valid) takeLimit(ctx, 'promo', callerKey(ctx)); // only refusals count: guessing is what is kept short
  return { asked, judgement };
});

/** What a code would do. A refused one is an answer, too; why an unknown one is refused is not told. */
export function validateCartPromo(ctx: Context): CartPromoValidation {
  const { asked, judgement } = promoJudgement.of(ctx);
  const { currency, lines } = asked;
  const money = (amount: number) => ({ amount, currency });
  const subtotal = lines.reduce((sum, one) => sum + one.subtotal, 0);
  return {
    valid: judgement.valid,
    code: judgement.code,
    reason: judgement.valid ? null : (CartPromoReason[judgement.reason as keyof typeof CartPromoReason] ?? CartPromoReason.UNKNOWN),
    kind: judgement.kind === null ? null : CartPromoKind[judgement.kind],
    discount: money(judgement.discount),
    allocations: judgement.allocations.map(({ line, amount }) => ({ variantId: lines[line]!.variantId, amount: money(amount) })),
    newTotal: money(subtotal - judgement.discount),
  };
}
