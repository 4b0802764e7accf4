import { beforeAll, expect, test } from 'vitest';
import { oneAtATime } from '../support/one-at-a-time.js';
import { killMoney } from './money/kills.js';

beforeAll(oneAtATime, 900_000);

const seed = Number(process.env.MONEY_SEED ?? 17);

/** 100 kills and the planted faults: `npm run chaos -- money`. Source: issue 17. */
test(`each intent ends in one charge or none while payments, accounting and relay are killed five times (seed ${seed})`, async () => {
  const outcome = await killMoney({ seed, kills: 5 });
  expect(outcome.violations).toEqual([]);
  expect(outcome.killed.payments).toBeGreaterThan(1);
}, 900_000);
