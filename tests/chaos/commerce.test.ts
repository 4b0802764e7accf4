import { expect, test } from 'vitest';
import { Shop } from '../commerce/shop.js';
import { OPERATIONS, runShoppers } from './commerce/run.js';
import { stepsOf } from './commerce/steps.js';

const seed = Number(process.env.COMMERCE_SEED ?? 20_261_128);
/** `COMMERCE_CLIENTS=1 COMMERCE_SEED=7` repeats a run one operation after the other. */
const clients = Number(process.env.COMMERCE_CLIENTS ?? 50);

test('a seed gives the same operations of each shopper', () => {
  expect(stepsOf(seed, 3, 50)).toEqual(stepsOf(seed, 3, 50));
  expect(stepsOf(seed, 3, 50)).not.toEqual(stepsOf(seed + 1, 3, 50));
});

/** Source: commerce 8, proof of stock and money. */
test(`nothing is oversold or lost, and what was seen is what was paid, by 40 random steps of 50 shoppers (seed ${seed})`, async () => {
  const shop = await Shop.open({ DATABASE_POOL_MAX: '6' });
  const { violations, kinds } = await runShoppers(shop, { seed, shoppers: 50, each: 40, clients, between: 10 });
  expect(violations).toEqual([]);
  expect(Object.keys(kinds).toSorted()).toEqual(Object.keys(OPERATIONS).toSorted()); // each was done, not refused only
}, 600_000);
