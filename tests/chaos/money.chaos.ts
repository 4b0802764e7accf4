import { expect, test } from 'vitest';
import { stepsOf } from './money/steps.js';
import { runMoney } from './money/run.js';

/** `MONEY_SEED=7 MONEY_CLIENTS=1 npm run chaos -- money` repeats a run step by step. Source: payments 8, tests. */
const seed = Number(process.env.MONEY_SEED ?? 20_261_123);
const steps = Number(process.env.MONEY_STEPS ?? 10_000);
const clients = Number(process.env.MONEY_CLIENTS ?? 8);

test('a seed gives the same operations', () => {
  expect(stepsOf(seed, 50, 8)).toEqual(stepsOf(seed, 50, 8));
  expect(stepsOf(seed, 50, 8)).not.toEqual(stepsOf(seed + 1, 50, 8));
});

test(`no cent is lost or made by ${steps} random operations of ${clients} clients (seed ${seed})`, async () => {
  const outcome = await runMoney({ seed, steps, clients });
  expect(outcome.violations).toEqual([]);
  expect(outcome.done).toBeGreaterThan(steps / 4);
}, 7_200_000);

/** Enough for two barriers. */
const SERIAL_STEPS = Number(process.env.MONEY_SERIAL_STEPS ?? 250);

test('one client alone gives the same run twice: the same answers and the same balances', async () => {
  const options = { seed, steps: SERIAL_STEPS, clients: 1 };
  const [first, second] = [await runMoney(options), await runMoney(options)];
  expect([...first.violations, ...second.violations]).toEqual([]);
  expect(second.transcript).toEqual(first.transcript);
  expect(second.balances).toEqual(first.balances);
}, 7_200_000);
