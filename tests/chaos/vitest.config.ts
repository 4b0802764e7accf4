import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import suite from '../../vitest.config.js';

/** The run of money is a platform of the suite; the others start their own PostgreSQL and RabbitMQ. */
const globalSetup = process.argv.includes('money') ? (suite.test?.globalSetup ?? []) : [];

/** `npm run chaos`: minutes long, so not a part of `npm test`. `npm run chaos -- money` runs the random operations of money. */
export default mergeConfig(
  { ...suite, test: { ...suite.test, include: [], globalSetup } },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: { include: ['tests/chaos/*.chaos.ts'], fileParallelism: false, testTimeout: 3_600_000, hookTimeout: 300_000 },
  }),
);
