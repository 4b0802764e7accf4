import { beforeAll, expect, test } from 'vitest';
import { oneAtATime } from '../support/one-at-a-time.js';
import { MESSAGE_FAULTS } from './messages/faults.js';
import { killMessages, type Options } from './messages/run.js';

/** `MESSAGES=2000 MESSAGES_KILLS=9 MESSAGES_SEED=7 npm run chaos -- messages` for fewer, in another order. Source: issue 19. */
const seed = Number(process.env.MESSAGES_SEED ?? 20);
const messages = Number(process.env.MESSAGES ?? 20_000);
const kills = Number(process.env.MESSAGES_KILLS ?? 60);
const OWN: Options = { seed, messages, kills, vices: { cut: 0.03, late: 0.01, busy: 0.03 }, leaseSeconds: 20 };
/** A planted fault shows in so few. */
const WRONG: Options = { seed, messages: 300, kills: 4, vices: { cut: 0.1, late: 0, busy: 0 }, leaseSeconds: 3 };

beforeAll(oneAtATime, 900_000);

test(`of ${messages} messages none is lost, and none comes twice but as the contract allows, while comms, relay and providers are killed ${kills} times (seed ${seed})`, async () => {
  const { killed, suspects, copies, violations } = await killMessages(OWN);
  console.log(`killed ${JSON.stringify(killed)}, ${copies} copies taken, ${suspects} events replayed by hand`);
  expect(violations).toEqual([]);
}, 7_200_000);

test.each(Object.entries(MESSAGE_FAULTS))(
  'the same run catches the planted fault "%s"',
  async (name, patches) => {
    const { violations } = await killMessages(WRONG, patches);
    console.log(`${name}:\n  ${violations.slice(0, 10).join('\n  ')}`);
    expect(violations).not.toEqual([]);
  },
  1_800_000,
);
