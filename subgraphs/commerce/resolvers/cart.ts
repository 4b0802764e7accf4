import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { cartBrand, createCart } from '../commands/cart-creation.js';
import { clearCart, itemFacts, removalFacts, removeCartItem, setCartItem, updateCart, updateFacts } from '../commands/cart.js';
import { findCart } from '../commands/cart-access.js';
import { checkingOut, checkOut } from '../commands/checkout.js';
import { checkoutFacts } from '../commands/checkout-facts.js';
import { promoJudgement, validateCartPromo } from '../commands/promo-validation.js';
import { ANY_TOKEN_SELF, BUYERS, CART_HOLDERS, CART_MAKERS, VIEWERS } from '../entities/access.js';
import {
  Cart,
  CartCheckout,
  CartCreation,
  CartItem,
  CartProblem,
  CartPromoValidation,
  CartTotals,
  ShippingOption,
} from '../entities/cart.js';
import { Order } from '../entities/order.js';
import {
  CartArgs,
  CheckoutCartInput,
  ClearCartInput,
  CreateCartInput,
  RemoveCartItemInput,
  SetCartItemInput,
  UpdateCartInput,
  ValidateCartPromoInput,
} from '../inputs/cart.js';
import { reservedUntil, shownItems, shownOptions, shownTotals } from '../queries/cart-fields.js';
import { pricedCart } from '../queries/priced-cart.js';

@Resolver(() => Cart)
export class CartResolver {
  @Access(CART_HOLDERS)
  @Query(() => Cart, { nullable: true })
  cart(@Args(() => CartArgs) { id, guestToken }: CartArgs, @Ctx() ctx: Context): Promise<Cart | null> {
    return findCart(ctx, id, guestToken);
  }

  @Access(CART_MAKERS)
  @Prepare(cartBrand)
  @Mutation(() => CartCreation, { description: 'Makes a cart, or finds the open one of a user; merges a guest cart into it.' })
  createCart(@Arg('input', () => CreateCartInput) input: CreateCartInput, @Ctx() ctx: Context): Promise<CartCreation> {
    return createCart(ctx, input);
  }

  @Access(CART_HOLDERS)
  @Prepare(itemFacts)
  @Mutation(() => Cart, { description: 'Adds to a line, or sets it; what is refused changes nothing.' })
  setCartItem(@Arg('input', () => SetCartItemInput) input: SetCartItemInput, @Ctx() ctx: Context): Promise<Cart> {
    return setCartItem(ctx, input);
  }

  @Access(CART_HOLDERS)
  @Prepare(removalFacts)
  @Mutation(() => Cart)
  removeCartItem(@Arg('input', () => RemoveCartItemInput) input: RemoveCartItemInput, @Ctx() ctx: Context): Promise<Cart> {
    return removeCartItem(ctx, input);
  }

  @Access(CART_HOLDERS)
  @Mutation(() => Cart)
  clearCart(@Arg('input', () => ClearCartInput) input: ClearCartInput, @Ctx() ctx: Context): Promise<Cart> {
    return clearCart(ctx, input);
  }

  @Access(CART_HOLDERS)
  @Prepare(updateFacts)
  @Mutation(() => Cart, { description: 'Sets promo, addresses and way of shipping.' })
  updateCart(@Arg('input', () => UpdateCartInput) input: UpdateCartInput, @Ctx() ctx: Context): Promise<Cart> {
    return updateCart(ctx, input);
  }

  @Prepare(checkoutFacts)
  @TwoPhase(checkingOut)
  @Access(BUYERS)
  @Mutation(() => CartCheckout, { description: 'Orders what is in a cart and has it paid. A repeat while it is paid is the same order.' })
  checkoutCart(@Arg('input', () => CheckoutCartInput) _input: CheckoutCartInput, @Ctx() ctx: Context): Promise<CartCheckout | Problem> {
    return checkOut(ctx);
  }

  @Access(ANY_TOKEN_SELF)
  @Prepare(promoJudgement)
  @Mutation(() => CartPromoValidation, { description: 'What a code would do; nothing is reserved.' })
  validateCartPromo(@Arg('input', () => ValidateCartPromoInput) _input: ValidateCartPromoInput, @Ctx() ctx: Context): CartPromoValidation {
    return validateCartPromo(ctx);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [CartItem])
  items(@Root() cart: Cart, @Ctx() ctx: Context): Promise<CartItem[]> {
    return shownItems(ctx, cart);
  }

  @Access(VIEWERS)
  @FieldResolver(() => CartTotals)
  totals(@Root() cart: Cart, @Ctx() ctx: Context): Promise<CartTotals> {
    return shownTotals(ctx, cart);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [CartProblem])
  async problems(@Root() cart: Cart, @Ctx() ctx: Context): Promise<CartProblem[]> {
    return (await pricedCart(ctx, cart)).problems;
  }

  @Access(VIEWERS)
  @FieldResolver(() => [ShippingOption], { description: 'The cheapest first; none without an address.' })
  shippingOptions(@Root() cart: Cart, @Ctx() ctx: Context): Promise<ShippingOption[]> {
    return shownOptions(ctx, cart);
  }

  @Access(VIEWERS)
  @FieldResolver(() => DateTime, { nullable: true, description: 'The earliest end of what is held.' })
  reservedUntil(@Root() cart: Cart, @Ctx() ctx: Context): Promise<Date | null> {
    return reservedUntil(ctx, cart);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Order, { nullable: true })
  order(@Root() { orderId }: Cart, @Ctx() ctx: Context): Promise<Order | null> | null {
    return orderId === null ? null : loadRow(ctx, Order, 'id', orderId);
  }
}
