import { beforeAll, expect, test } from 'vitest';
import { oneAtATime } from '../support/one-at-a-time.js';
import { COMMERCE_FAULTS } from './commerce/faults.js';
import { killShop } from './commerce/kills.js';

/** `SHOPPERS=20 STEPS=100 KILLS=6 COMMERCE_SEED=7 npm run soak:commerce` for a shorter one, in another order. Source: commerce 8, issue 18. */
const seed = Number(process.env.COMMERCE_SEED ?? 20_261_128);
const shoppers = Number(process.env.SHOPPERS ?? 50);
const each = Number(process.env.STEPS ?? 2_000);
const kills = Number(process.env.KILLS ?? Math.ceil(each / 10));
/** A planted fault shows within so many steps of each of 50. */
const WRONG_STEPS = 60;

beforeAll(oneAtATime, 900_000);

test(`nothing is oversold or lost by ${each} random steps of ${shoppers} shoppers while commerce and payments are killed ${kills} times (seed ${seed})`, async () => {
  const { violations, killed, kinds, done, refused } = await killShop({ seed, shoppers, each, kills, clients: shoppers, between: 20 });
  console.log(`killed ${JSON.stringify(killed)}; ${done} done, ${refused} refused: ${JSON.stringify(kinds)}`);
  expect(violations).toEqual([]);
  expect(killed.commerce + killed.payments).toBeGreaterThan(kills / 2); // a phase may end before its share is killed
}, 36_000_000);

test.each(Object.entries(COMMERCE_FAULTS))(
  'the same run catches the planted fault "%s"',
  async (name, patches) => {
    const { violations } = await killShop({ seed, shoppers: 50, each: WRONG_STEPS, kills: 0, clients: 50, between: 10 }, patches);
    console.log(`${name}:\n  ${violations.join('\n  ')}`);
    expect(violations).not.toEqual([]);
  },
  1_800_000,
);
