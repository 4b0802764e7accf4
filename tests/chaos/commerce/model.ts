import type { Good, Lot } from './shelf.js';

const MINUTE_MS = 60_000;
const [HOLD_MS, MOST_HOLD_MS, PAYMENT_MS] = [15 * MINUTE_MS, 60 * MINUTE_MS, 30 * MINUTE_MS];

interface Line {
  quantity: number;
  /** Since when its units are held without a pause. */
  since: number;
  until: number;
}

export interface Cart {
  readonly id: string;
  readonly shopper: number;
  status: 'active' | 'checking_out' | 'completed' | 'abandoned';
  /** By variant. */
  readonly lines: Map<string, Line>;
}

export interface Bought {
  readonly quantity: number;
  fulfilled: number;
  returned: number;
  /** Of those that came back. */
  paidBack: number;
}

export interface Order {
  readonly id: string;
  readonly cart: Cart;
  /** What the shopper was shown, minor units. */
  readonly seen: number;
  readonly until: number;
  state: 'waiting' | 'placed' | 'payment_failed' | 'expired' | 'cancelled';
  /** Paid, and commerce has not heard of it yet. */
  isUnheard: boolean;
  /** By the shopper. */
  isGivenUp: boolean;
  /** By variant. */
  readonly bought: Map<string, Bought>;
}

/** What a shop is like by its answers alone: a pure model, against which the real one is compared. */
export class Model {
  readonly carts = new Map<string, Cart>();
  readonly orders = new Map<string, Order>();
  readonly lots: Lot[] = [];
  readonly onHand = new Map<string, number>();
  readonly #goods: ReadonlyMap<string, Good>;

  constructor(
    readonly goods: readonly Good[],
    public now: number,
  ) {
    this.#goods = new Map(goods.map(good => [good.id, good]));
    for (const good of goods) if (good.parts.has(good.id)) this.onHand.set(good.id, good.stock);
  }

  good(variantId: string): Good {
    return this.#goods.get(variantId)!;
  }

  activeOf(shopper: number): Cart | null {
    return [...this.carts.values()].find(cart => cart.shopper === shopper && cart.status === 'active') ?? null;
  }

  ordersOf(shopper: number, state: Order['state']): Order[] {
    return [...this.orders.values()].filter(order => order.cart.shopper === shopper && order.state === state);
  }

  /** The cart that a shopper was given. */
  opened(shopper: number, id: string): Cart {
    const cart = this.carts.get(id) ?? { id, shopper, status: 'active', lines: new Map<string, Line>() };
    this.carts.set(id, cart);
    return cart;
  }

  put(cart: Cart, variantId: string, quantity: number): void {
    if (quantity === 0) return void cart.lines.delete(variantId);
    const known = cart.lines.get(variantId);
    const since = known && known.until > this.now ? known.since : this.now;
    cart.lines.set(variantId, { quantity, since, until: Math.min(this.now + HOLD_MS, since + MOST_HOLD_MS) });
  }

  /** The lines of a cart that became an order stay, and are held anew where it does not count. */
  checkedOut(cart: Cart, id: string, seen: number, state: 'waiting' | 'placed' | 'payment_failed'): Order {
    const nothing = { fulfilled: 0, returned: 0, paidBack: 0 };
    const bought = new Map([...cart.lines].map(([variantId, { quantity }]) => [variantId, { quantity, ...nothing }]));
    const order = { id, cart, seen, until: this.now + PAYMENT_MS, state, isUnheard: false, isGivenUp: false, bought };
    this.orders.set(id, order);
    cart.status = state === 'placed' ? 'completed' : 'checking_out';
    if (state === 'payment_failed') this.#reopen(cart);
    return order;
  }

  /** A payment was heard of, in time or late. */
  settled(order: Order, isPlaced: boolean): void {
    const isLate = order.state !== 'waiting';
    Object.assign(order, { state: isPlaced ? 'placed' : 'cancelled', isUnheard: false });
    if (isLate) return;
    if (isPlaced) order.cart.status = 'completed';
    else this.#reopen(order.cart);
  }

  gaveUp(order: Order): void {
    Object.assign(order, { state: 'cancelled', isGivenUp: true });
  }

  /** @param fulfilled of the line, all in all. */
  shipped(order: Order, variantId: string, fulfilled: number): void {
    const line = order.bought.get(variantId)!;
    this.#move(variantId, line.fulfilled - fulfilled);
    line.fulfilled = fulfilled;
  }

  cameBack(order: Order, variantId: string, quantity: number, { restock, refund }: { restock: boolean; refund: boolean }): void {
    const line = order.bought.get(variantId)!;
    line.returned += quantity;
    if (refund) line.paidBack += quantity;
    if (restock) this.#move(variantId, quantity);
  }

  received(good: Good, quantity: number): void {
    this.#move(good.id, quantity);
  }

  /** Time goes on: who has not paid by then is too late. */
  advance(ms: number): void {
    this.now += ms;
    for (const order of this.orders.values())
      if (order.state === 'waiting' && order.until <= this.now) {
        order.state = 'expired';
        this.#reopen(order.cart, order.until);
      }
  }

  #move(variantId: string, quantity: number): void {
    for (const [id, each] of this.good(variantId).parts) this.onHand.set(id, this.onHand.get(id)! + each * quantity);
  }

  #reopen(cart: Cart, at = this.now): void {
    const other = this.activeOf(cart.shopper);
    cart.status = other ? 'abandoned' : 'active';
    for (const line of cart.lines.values()) Object.assign(line, { since: at, until: at + HOLD_MS });
  }
}
