import { afterAll, beforeAll, expect, test } from 'vitest';
import { oneAtATime } from '../support/one-at-a-time.js';
import { killAfterCharge, killMoney, Scene } from './money/kills.js';

const seed = Number(process.env.MONEY_SEED ?? 17);

let scene: Scene;
beforeAll(async () => {
  await oneAtATime();
  scene = await Scene.open();
}, 900_000);
afterAll(() => scene?.close());

test('case 27: payments that was killed after the sandbox charged goes on with the same intent when the request is repeated', async () => {
  const { answer, charges } = await killAfterCharge(scene);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({
    status: 201,
    body: { status: 'complete', payment: { status: 'succeeded' } },
  });
  expect(charges).toBe(1);
}, 300_000);

/** 100 kills and the planted faults: `npm run chaos -- money`. Source: issue 17. */
test(`each intent ends in one charge or none while payments, accounting and relay are killed five times (seed ${seed})`, async () => {
  const outcome = await killMoney(scene, { seed, kills: 5 });
  expect(outcome.violations).toEqual([]);
  expect(outcome.killed.payments).toBeGreaterThan(1);
}, 900_000);
