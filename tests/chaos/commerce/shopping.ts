import { CARD, TEXAS, usd } from '../../commerce/shop.js';
import { until } from '../../support/until.js';
import type { Cart, Order } from './model.js';
import type { Step } from './steps.js';
import type { World } from './world.js';

/** What a step's answer was; null: there was nothing to do it with. */
export type Operation = (world: World, step: Step) => Promise<number | null>;

const chosen = <T>(all: readonly T[], pick: number): T | null => all[pick % Math.max(1, all.length)] ?? null;

/** Sets or raises one line. */
async function put(world: World, step: Step, mode: 'add' | 'set'): Promise<number | null> {
  const [cart, good] = [world.model.activeOf(step.shopper), world.good(step)];
  if (!cart) return fill(world, step);
  const quantity = mode === 'set' && step.isOdd ? 0 : step.quantity;
  const { status } = await world.ask('POST', `/carts/${cart.id}/items`, { variant_id: good.id, quantity, mode }, step.id);
  const before = mode === 'add' ? (cart.lines.get(good.id)?.quantity ?? 0) : 0;
  if (status === 200) world.model.put(cart, good.id, before + quantity);
  return status;
}

/** Several lines at once, all of them or none. */
async function fill(world: World, step: Step): Promise<number> {
  const { model } = world;
  const goods = [...new Set([world.good(step), chosen(model.goods, step.other)!])];
  const items = goods.map(({ id }) => ({ variant_id: id, quantity: step.quantity }));
  const { status, body } = await world.ask('POST', '/carts', { user_id: world.users[step.shopper], items }, step.id);
  if (status >= 300) return status;
  const cart = model.opened(step.shopper, body.cart.id);
  for (const { id } of goods) model.put(cart, id, (cart.lines.get(id)?.quantity ?? 0) + step.quantity);
  return status;
}

async function clear(world: World, step: Step): Promise<number | null> {
  const cart = world.model.activeOf(step.shopper);
  if (!cart) return null;
  const { status } = await world.ask('POST', `/carts/${cart.id}/clear`, {}, step.id);
  if (status === 200) cart.lines.clear();
  return status;
}

const ORDER_OF_CART = 'query OrderOfCart($id: ID!) { cart(id: $id) { status order { id status } } }';

/** A checkout whose answer died with its process: what the cart says of it. */
async function lookUp({ shop, model }: World, cart: Cart, seen: number): Promise<void> {
  const read = () => shop.p.graphql(ORDER_OF_CART, { id: cart.id }, { token: shop.token });
  const { data } = await until('the cart', read, answer => Boolean(answer.data?.cart), 180_000);
  if (data.cart.status === 'COMPLETED') model.checkedOut(cart, data.cart.order.id, seen, 'placed');
}

/** Last digits of a total to which the double says nothing at once: an action of the buyer, or silence. */
const [ACTS, SILENT] = [3, 4];

/** The processor has the money; commerce is told of it by an event. */
async function charge(world: World, order: Order, isHeard: boolean): Promise<void> {
  await world.shop.p.sql(`update commerce.embedded_payment set status = 'COMPLETE' where order_id = $1`, [order.id]);
  order.isUnheard = true;
  if (isHeard) await world.tellPaid(order.id);
}

async function pay(world: World, { shopper }: Step, isHeard: boolean): Promise<number | null> {
  const order = world.model.ordersOf(shopper, 'waiting').find(one => !one.isUnheard);
  if (!order) return null;
  await charge(world, order, isHeard);
  return 200;
}

/** Who waits for two payments, because an answer was lost, has the second one paid at once: of two carts, one may be open again. */
async function ordered(world: World, cart: Cart, { order, status }: any, seen: number): Promise<void> {
  const isSecond = world.model.ordersOf(cart.shopper, 'waiting').length > 0;
  const made = world.model.checkedOut(cart, order.id, seen, status === 'placed' ? 'placed' : 'waiting');
  if (made.state === 'waiting' && isSecond) await charge(world, made, true);
}

async function checkOut(world: World, step: Step, isLater: boolean): Promise<number | null> {
  const { model } = world;
  const cart = model.activeOf(step.shopper);
  if (!cart || cart.lines.size === 0) return null;
  const told = await world.ask('PATCH', `/carts/${cart.id}`, { shipping_address: TEXAS, recipient_name: 'A Buyer' }, step.id);
  if (told.status !== 200) return told.status; // the next barrier says what has become of the cart
  const seen: number = told.body.totals.total.amount;
  const waits = isLater || seen % 100 === ACTS;
  if ((waits && model.ordersOf(step.shopper, 'waiting').length > 0) || (seen % 100 === SILENT && !world.isPatient)) return null;
  const body = { expected_total: usd(seen), ...(!isLater && { payment_method_id: CARD }) };
  // a repeat of who was not answered is the same order, so each has a key of its own
  const answer = await world.ask('POST', `/carts/${cart.id}/checkout`, body, null);
  if (answer.status === 200) await ordered(world, cart, answer.body, seen);
  else if (answer.status === 402) model.checkedOut(cart, answer.body.order_id, seen, 'payment_failed');
  else if (answer.body.reason === 'cart_not_active') await lookUp(world, cart, seen);
  return answer.status;
}

async function cancel(world: World, step: Step): Promise<number | null> {
  const order = chosen(world.model.ordersOf(step.shopper, 'placed'), step.pick);
  if (!order) return null;
  const { status } = await world.ask('POST', `/orders/${order.id}/cancel`, {}, step.id);
  if (status === 200) world.model.gaveUp(order);
  return status;
}

async function ship(world: World, step: Step): Promise<number | null> {
  const order = chosen(world.model.ordersOf(step.shopper, 'placed'), step.pick);
  if (!order) return null;
  const { status, body } = await world.ask('POST', `/orders/${order.id}/fulfillments`, {}, step.id);
  if (status === 200) for (const item of body.items) world.model.shipped(order, item.variant_id, item.fulfilled_quantity);
  return status;
}

const hasLeft = (order: Order): boolean => [...order.bought.values()].some(line => line.fulfilled > line.returned);

/** Units of a line come back, to the shelf or not, paid back or not. */
async function takeBack(world: World, step: Step): Promise<number | null> {
  const order = chosen(world.model.ordersOf(step.shopper, 'placed').filter(hasLeft), step.pick);
  if (!order) return null;
  const { body } = await world.ask('GET', `/orders/${order.id}`, undefined, null);
  const item = body.items.find((one: any) => one.fulfilled_quantity > one.returned_quantity);
  const lots = [...new Set<string>(item.lots.map((lot: any) => lot.lot_number))];
  const quantity = Math.min(step.quantity, item.fulfilled_quantity - item.returned_quantity);
  const how = { restock: step.isOdd, refund: step.other % 2 === 0 };
  const one = { item_id: item.id, quantity, restock: how.restock, ...(lots.length > 1 && { lot_number: chosen(lots, step.other) }) };
  const { status } = await world.ask('POST', `/orders/${order.id}/returns`, { items: [one], refund: how.refund }, step.id);
  if (status === 200) world.model.cameBack(order, item.variant_id, quantity, how);
  return status;
}

export const SHOPPING = {
  add: (world, step) => put(world, step, 'add'),
  set: (world, step) => put(world, step, 'set'),
  fill,
  clear,
  checkout: (world, step) => checkOut(world, step, false),
  checkoutLater: (world, step) => checkOut(world, step, true),
  pay: (world, step) => pay(world, step, true),
  payUnheard: (world, step) => pay(world, step, false),
  cancel,
  ship,
  takeBack,
} as const satisfies Record<string, Operation>;
