import { usd } from '../../commerce/shop.js';
import { PLACES, type Lot } from './shelf.js';
import type { Operation } from './shopping.js';
import type { Step } from './steps.js';
import type { World } from './world.js';

/** Days that a new lot has left, of which 14 are too few. */
const [FEWEST_DAYS, MORE_DAYS] = [14, 60];

/** Something that comes in boxes: plain, or by lots. */
function counted(world: World, { pick }: Step) {
  const goods = world.model.goods.filter(good => good.parts.has(good.id));
  return goods[pick % goods.length]!;
}

const receive: Operation = async (world, step) => {
  const good = counted(world, step);
  const quantity = step.quantity * 4;
  const days = FEWEST_DAYS + (step.other % MORE_DAYS);
  if (good.hasLots) return world.receiveLot(good, `R-${step.id.slice(0, 13)}`, quantity, days, step.other % 2, step.id);
  const body = { sku: good.sku, quantity, receipt: true, reason: 'Delivery', location_id: PLACES[step.other % 2]! };
  const { status } = await world.ask('POST', '/admin/inventory/adjustments', body, step.id);
  if (status === 200) world.model.received(good, quantity);
  return status;
};

function lotOf({ model }: World, { other }: Step): Lot | null {
  const lots = model.lots.filter(one => one.state !== 'recalled');
  return lots[other % Math.max(1, lots.length)] ?? null;
}

/** Something is gone, by a count. */
const adjust: Operation = async (world, step) => {
  const lot = step.isOdd ? lotOf(world, step) : null;
  const good = lot?.good ?? counted(world, step);
  if (good.hasLots && !lot) return null;
  const where = lot ? { lot_number: lot.number, location_id: lot.place } : {};
  const body = { sku: good.sku, quantity: -step.quantity, reason: 'Count', ...where };
  const { status } = await world.ask('POST', '/admin/inventory/adjustments', body, step.id);
  if (status === 200) world.model.received(good, -step.quantity);
  return status;
};

const recall: Operation = async (world, step) => {
  const lot = lotOf(world, step);
  if (!lot) return null;
  lot.state = 'recalled'; // whoever else means it is too late
  const body = { sku: lot.good.sku, lot_number: lot.number, reason: 'Wrong label' };
  return (await world.ask('POST', '/admin/inventory/recall', body, step.id)).status;
};

/** Keeps a lot from being sold, or lets it go. */
const quarantine: Operation = async (world, step) => {
  const lot = lotOf(world, step);
  if (!lot) return null;
  const release = lot.state === 'quarantined';
  const { status } = await world.ask('POST', `/admin/inventory/lots/${lot.id}/quarantine`, { release, reason: 'A look' }, step.id);
  if (status === 200 && lot.state !== 'recalled') lot.state = release ? 'available' : 'quarantined';
  return status;
};

const reprice: Operation = async (world, step) => {
  const { id, price } = world.good(step);
  const prices = [{ amount: usd(price + 100 * (step.other % 3)) }];
  return (await world.ask('POST', `/admin/variants/${id}/prices`, { prices }, step.id)).status;
};

export const KEEPING = { receive, adjust, recall, quarantine, reprice } as const satisfies Record<string, Operation>;
