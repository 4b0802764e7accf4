import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import suite from '../../vitest.config.js';

const MONEY = 'tests/chaos/money*.chaos.ts';
const isMoney = process.argv.some(argument => argument.startsWith('money'));
/** The runs of money are platforms of the suite; the others start their own PostgreSQL and RabbitMQ. */
const globalSetup = isMoney ? (suite.test?.globalSetup ?? []) : [];
const files = isMoney ? { include: [MONEY] } : { include: ['tests/chaos/*.chaos.ts'], exclude: [MONEY] };

/** `npm run chaos`: minutes long, so not a part of `npm test`. `npm run chaos -- money` runs the random operations of money, and its kills. */
export default mergeConfig(
  { ...suite, test: { ...suite.test, include: [], globalSetup } },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: { ...files, fileParallelism: false, testTimeout: 3_600_000, hookTimeout: 300_000 },
  }),
);
