import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Without one file for all importers there are two copies, and graphql refuses "another module or realm".
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2, // each file's platform is a process's worth of memory, and CI has two cores
    testTimeout: 30_000,
    hookTimeout: 60_000, // the first platform of a file migrates a template database
    teardownTimeout: 30_000,
    env: { APOLLO_TELEMETRY_DISABLED: 'true' }, // before construction, else ApolloGateway probes cloud metadata addresses
  },
});
