import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import suite from '../../vitest.config.js';

/** Runs that are platforms of the suite; the others start their own PostgreSQL and RabbitMQ. */
const OF_THE_SUITE = ['money', 'commerce', 'live', 'messages'];
const filesOf = (name: string): string => `tests/chaos/${name}*.chaos.ts`;
const chosen = OF_THE_SUITE.find(name => process.argv.some(argument => argument.startsWith(name)));
const globalSetup = chosen ? (suite.test?.globalSetup ?? []) : [];
const files = chosen ? { include: [filesOf(chosen)] } : { include: ['tests/chaos/*.chaos.ts'], exclude: OF_THE_SUITE.map(filesOf) };

/** `npm run chaos`: minutes long, so not a part of `npm test`. `npm run chaos -- money` runs the random operations of money, and its kills, `-- live-seats` the seats,
 * `-- messages` the messages; `npm run soak:commerce` the shoppers. */
export default mergeConfig(
  { ...suite, test: { ...suite.test, include: [], globalSetup } },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: { ...files, fileParallelism: false, testTimeout: 3_600_000, hookTimeout: 300_000 },
  }),
);
