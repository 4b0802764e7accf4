import { afterAll, beforeAll, expect, test } from 'vitest';
import { line, run } from './support/run.js';
import { Backends } from './support/world.js';
import { WRONG_DESIGNS } from './wrong-designs.js';

/** The same seed gives the same users, requests, faults of receivers and victims; what the scheduler makes of them differs. */
const SEED = Number(process.env.CHAOS_SEED ?? 4);
const SECONDS = Number(process.env.CHAOS_MINUTES ?? 2) * 60;
/** A wrong design shows within this time, s. */
const WRONG_SECONDS = 40;
const LOAD = { seed: SEED, clients: 16, pauseMs: 500 };

let backends: Backends;

beforeAll(async () => {
  backends = await Backends.start();
});

afterAll(() => backends.stop());

test(`${SECONDS} s of kills (seed ${SEED}): nothing is lost, out of order or wrongly signed`, async () => {
  const outcome = await run(backends, { ...LOAD, seconds: SECONDS });
  console.log(line('our design', outcome));
  const clean = { lost: 0, outOfOrder: 0, badSignatures: 0, phantoms: 0, deadLetters: 0 };
  expect(outcome.figures).toMatchObject(clean);
  expect(outcome.seen.statuses.has(-1), 'a request without an answer').toBe(false);
  expect(outcome.figures.events).toBeGreaterThan(SECONDS);
});

test.each(Object.entries(WRONG_DESIGNS))('the same run catches the wrong design "%s"', async (name, { patches, shows }) => {
  const outcome = await run(backends, { ...LOAD, seconds: WRONG_SECONDS, patches });
  console.log(line(name, outcome));
  for (const figure of shows) expect(outcome.figures[figure], figure).toBeGreaterThan(0);
});
