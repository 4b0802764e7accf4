import { expect, test } from 'vitest';
import { killMessages } from './messages/run.js';

const seed = Number(process.env.MESSAGES_SEED ?? 19);

/** 20,000 messages and the planted faults: `npm run chaos -- messages`. Source: issue 19. */
test(`of 200 messages none is lost, and none comes twice but as the contract allows, while comms, relay and providers are killed (seed ${seed})`, async () => {
  const outcome = await killMessages({ seed, messages: 200, kills: 3, vices: { cut: 0.05, late: 0, busy: 0.03 }, leaseSeconds: 3 });
  expect(outcome.violations).toEqual([]);
  expect(outcome.killed).toEqual({ comms: 1, relay: 1, providers: 1 });
}, 600_000);
