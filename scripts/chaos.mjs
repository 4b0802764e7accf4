/**
 * `npm run chaos`: the event machinery under fire, on every pair of backends of this machine. Relay, consumer and the whole process are killed
 * 20 times each during 2,000 events, and the transport is away for a minute. CHAOS_KILLS, CHAOS_EVENTS and CHAOS_OUTAGE_MS change that.
 * Lost 0, out of order per user 0 and effects exactly once, or exit code 1.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { EMBEDDED, choosePostgres, chooseRabbitmq } from './backends.ts';
import { ENV, ROOT } from './check.mjs';

const FIRE = { CHAOS_KILLS: '20', CHAOS_EVENTS: '2000', CHAOS_OUTAGE_MS: '60000' };
const [postgres, rabbitmq] = [await choosePostgres(), await chooseRabbitmq()];
const pairs = [
  { name: 'embedded transport + embedded PostgreSQL', env: { TEST_DATABASE_URL: EMBEDDED, TEST_AMQP_URL: EMBEDDED } },
  ...(rabbitmq
    ? [{ name: `RabbitMQ ${rabbitmq.version}`, env: { TEST_DATABASE_URL: postgres?.url ?? EMBEDDED, TEST_AMQP_URL: rabbitmq.url } }]
    : []),
];

const failed = pairs.filter(({ name, env }) => {
  console.log(`\n== ${name}`);
  const files = ['tests/events/processes.test.ts', 'tests/events/transports.test.ts'];
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/vitest'), ['run', ...files], {
    cwd: ROOT,
    env: { ...ENV, ...FIRE, ...process.env, PATH: ENV.PATH, ...env },
    stdio: 'inherit',
  });
  return status !== 0;
});
if (!rabbitmq) console.log('RabbitMQ was left out: none answers');
process.exitCode = failed.length > 0 ? 1 : 0;
