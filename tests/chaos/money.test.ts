import { expect, test } from 'vitest';
import { runMoney } from './money/run.js';

const seed = Number(process.env.MONEY_SEED ?? 20_261_124);

/** 10,000 steps: `npm run chaos -- money`. Source: issue 17. */
test(`no cent is lost or made by 1,000 random operations of 8 clients (seed ${seed})`, async () => {
  const { violations, done } = await runMoney({ seed, steps: 1_000, clients: 8 });
  expect(violations).toEqual([]);
  expect(done).toBeGreaterThan(400);
}, 900_000);
