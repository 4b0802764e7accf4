/**
 * `npm run chaos`: about fifteen minutes on two cores. The platform in eight processes on a PostgreSQL and a RabbitMQ that the run starts, kills
 * and removes, with receivers that fail; the same run against four wrong designs, each of which it must catch; RabbitMQ away and full for a
 * minute; the retry schedule under faketime. Then the machinery alone on both transports: 20 kills during 10,000 events, and the transport away
 * for a minute. Exit code 1 when something is lost.
 *
 *   CHAOS_MINUTES=10 CHAOS_SEED=7 npm run chaos      kills for ten minutes instead of two, in another order
 *   CHAOS_EVENTS=2000 CHAOS_KILLS=5 npm run chaos    the machinery for a shorter time
 *   npm run chaos -- money                           10,000 random operations of money, 100 kills of its processes, and three planted faults
 *   npm run soak:commerce                            50 shoppers x 2,000 steps while commerce and payments are killed, and two planted faults
 *   npm run chaos -- live-seats                      500 people for 30 seats of a live session, its two processes killed, and a planted fault
 *   npm run chaos -- messages                        20,000 messages, 60 kills of comms, relay and providers, and three planted faults
 *   npm run chaos -- kills -t "nothing is lost"      arguments are vitest's: only the run against our own design
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { EMBEDDED } from './backends.ts';
import { ENV, ROOT } from './check.mjs';

const passes = (args, env = {}) =>
  spawnSync(join(ROOT, 'node_modules/.bin/vitest'), ['run', ...args], { cwd: ROOT, env: { ...ENV, ...env }, stdio: 'inherit' }).status ===
  0;

const chosen = process.argv.slice(2);
const chaos = passes(['--config', 'tests/chaos/vitest.config.ts', ...chosen]);
const LONG = {
  CHAOS_KILLS: process.env.CHAOS_KILLS ?? '20',
  CHAOS_EVENTS: process.env.CHAOS_EVENTS ?? '10000',
  CHAOS_OUTAGE_MS: process.env.CHAOS_OUTAGE_MS ?? '60000',
};
/** Without addresses: the servers of this machine. */
const BACKENDS = [{ TEST_DATABASE_URL: EMBEDDED, TEST_AMQP_URL: EMBEDDED }, {}];
const machinery =
  chosen.length > 0 ||
  BACKENDS.map(backend => passes(['tests/events/processes.test.ts', 'tests/events/transports.test.ts'], { ...LONG, ...backend })).every(
    Boolean,
  );
process.exitCode = chaos && machinery ? 0 : 1;
