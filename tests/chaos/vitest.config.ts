import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import suite from '../../vitest.config.js';

const OF_SUITE = ['tests/chaos/money*.chaos.ts', 'tests/chaos/messages.chaos.ts'];
const isOfSuite = process.argv.some(argument => argument.startsWith('money') || argument.startsWith('messages'));
/** The runs of money and of messages are platforms of the suite; the others start their own PostgreSQL and RabbitMQ. */
const globalSetup = isOfSuite ? (suite.test?.globalSetup ?? []) : [];
const files = isOfSuite ? { include: OF_SUITE } : { include: ['tests/chaos/*.chaos.ts'], exclude: OF_SUITE };

/** `npm run chaos`: minutes long, so not a part of `npm test`. `npm run chaos -- money` runs the random operations of money, and its kills, `-- messages` messages while all that sends them is killed. */
export default mergeConfig(
  { ...suite, test: { ...suite.test, include: [], globalSetup } },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: { ...files, fileParallelism: false, testTimeout: 3_600_000, hookTimeout: 300_000 },
  }),
);
