import { unitsOf } from '../../../subgraphs/commerce/rules/money.js';
import type { Bought, Cart, Order } from './model.js';
import type { World } from './world.js';

interface ItemRow {
  id: string;
  status: string;
  total: number;
  variant: string;
  quantity: number;
  price: number;
  fulfilled: number;
  cancelled: number;
  returned: number;
  refunded: number;
  back: number | null;
  paid: number | null;
}

const ORDERS = `
select o.id, o.status, o.total::int as total, i.variant_id as variant, i.quantity, i.total::int as price, i.fulfilled, i.cancelled, i.returned, i.refunded,
  p.refunded::int as back, p.amount::int as paid
from commerce.shop_order o join commerce.order_item i on i.order_id = o.id left join commerce.embedded_payment p on p.order_id = o.id`;

const STATES: Readonly<Record<Order['state'], readonly string[]>> = {
  waiting: ['pending_payment'],
  placed: ['placed', 'completed'],
  payment_failed: ['payment_failed'],
  expired: ['expired'],
  cancelled: ['cancelled'],
};

const differs = (what: string, is: unknown, should: unknown): string[] =>
  is === should ? [] : [`${what}: ${String(is)} instead of ${String(should)}`];

/** One line of an order. Units that a recall took are known by their rows alone. */
function ofLine(order: Order, row: ItemRow, line: Bought | undefined): string[] {
  const at = `line ${row.variant} of ${order.id}`;
  if (!line) return [`${at}: nobody has bought it`];
  return [
    ...differs(`${at}, quantity`, row.quantity, line.quantity),
    ...differs(`${at}, shipped`, row.fulfilled, line.fulfilled),
    ...differs(`${at}, returned`, row.returned, line.returned),
    ...(order.isGivenUp ? [] : differs(`${at}, units paid back`, row.refunded, row.cancelled + line.paidBack)),
  ];
}

/** What of a payment must have gone back. */
function dueBack(order: Order, rows: readonly ItemRow[]): number {
  const isGone = rows.every(row => row.cancelled === row.quantity) || order.state === 'cancelled';
  if (isGone) return order.seen;
  return rows.reduce((sum, row) => sum + unitsOf(row.price, row.quantity, 0, row.refunded), 0);
}

function ofOrder(order: Order, rows: readonly ItemRow[], recalled: ReadonlySet<string>): string[] {
  const [first] = rows;
  if (!first) return [`order ${order.id} is gone`];
  const isRecalled = order.state === 'placed' && first.status === 'cancelled' && rows.some(row => recalled.has(row.variant));
  if (isRecalled) order.state = 'cancelled';
  const isPaid = order.state === 'placed' || order.state === 'cancelled';
  return [
    ...(STATES[order.state].includes(first.status) ? [] : [`order ${order.id}: ${first.status} instead of ${order.state}`]),
    ...differs(`total of ${order.id}`, first.total, order.seen),
    ...(isPaid ? differs(`paid for ${order.id}`, first.paid, order.seen) : []),
    ...(isPaid ? differs(`paid back of ${order.id}`, first.back, dueBack(order, rows)) : []),
    ...differs(`lines of ${order.id}`, rows.length, order.bought.size),
    ...rows.flatMap(row => ofLine(order, row, order.bought.get(row.variant))),
    ...rows
      .filter(row => row.cancelled > 0 && order.state === 'placed' && !recalled.has(row.variant))
      .map(row => `cancelled units of ${row.id}`),
  ];
}

async function ofOrders({ shop, model }: World): Promise<string[]> {
  const rows = Map.groupBy(await shop.p.sql<ItemRow>(ORDERS), row => row.id);
  const lots = new Set(model.lots.filter(lot => lot.state === 'recalled').map(lot => lot.good.id));
  const recalled = new Set(model.goods.filter(good => [...good.parts.keys()].some(id => lots.has(id))).map(good => good.id));
  const unknown = [...rows.values()].filter(([row]) => STATES.placed.includes(row!.status) && !model.orders.has(row!.id));
  return [
    ...[...model.orders.values()].flatMap(order => ofOrder(order, rows.get(order.id) ?? [], recalled)),
    ...unknown.map(([row]) => `order ${row!.id} counts, and nobody was told`),
  ];
}

const ON_HAND = 'select variant_id as id, sum(on_hand)::int as "onHand" from commerce.inventory_level group by 1';

async function ofShelves({ shop, model }: World): Promise<string[]> {
  const rows = new Map((await shop.p.sql<{ id: string; onHand: number }>(ON_HAND)).map(row => [row.id, row.onHand]));
  return [...model.onHand].flatMap(([id, units]) => differs(`on hand of ${model.good(id).sku}`, rows.get(id), units));
}

interface HeldRow {
  id: string;
  held: number;
  lost: boolean;
}

const HELD = `
select i.id, i.lost_cover as lost, coalesce(sum(r.quantity), 0)::int as held
from commerce.cart_item i left join commerce.stock_reservation r on r.cart_item_id = i.id and r.expires_at > $2 where i.cart_id = $1 group by i.id`;

/** Lines stay; what is held of them is what their cart tells, and all of it until its time is over or the stock is gone. */
async function ofCart(world: World, cart: Cart): Promise<string[]> {
  const { shop, model } = world;
  const { body } = await world.ask('GET', `/carts/${cart.id}`, undefined, null);
  const rows = await shop.p.sql<HeldRow>(HELD, [cart.id, new Date(model.now).toISOString()]);
  const ofLines = body.items.flatMap((item: any) => {
    const [line, good] = [cart.lines.get(item.variant.id), model.good(item.variant.id)];
    if (!line) return [`line ${good.sku} of cart ${cart.id}: nobody has put it there`];
    const each = [...good.parts.values()].reduce((sum, one) => sum + one, 0);
    const row = rows.find(one => one.id === item.id);
    const isOver = line.until <= model.now || row?.lost;
    return [
      ...differs(`quantity of ${good.sku} in cart ${cart.id}`, item.quantity, line.quantity),
      ...differs(`held for ${good.sku} in cart ${cart.id}`, row?.held, item.reserved * each),
      ...(isOver && item.reserved === 0 ? [] : differs(`reserved of ${good.sku} in cart ${cart.id}`, item.reserved, line.quantity)),
    ];
  });
  return [
    ...differs(`cart ${cart.id}`, body.status, cart.status),
    ...differs(`lines of cart ${cart.id}`, body.items.length, cart.lines.size),
    ...ofLines,
  ];
}

/** Where the shop is not what its answers have promised, in words. */
export async function differences(world: World): Promise<string[]> {
  const open = [...world.model.carts.values()].filter(cart => cart.status === 'active');
  const carts = await Promise.all(open.map(cart => ofCart(world, cart)));
  return [...carts.flat(), ...(await ofOrders(world)), ...(await ofShelves(world))];
}
