import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import suite from '../../vitest.config.js';

/** `npm run chaos`: minutes long, so not a part of `npm test`. The runs start their own PostgreSQL and RabbitMQ. */
export default mergeConfig(
  { ...suite, test: { ...suite.test, include: [], globalSetup: [] } },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: { include: ['tests/chaos/*.chaos.ts'], fileParallelism: false, testTimeout: 3_600_000, hookTimeout: 300_000 },
  }),
);
