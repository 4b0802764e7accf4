import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Without one file for all importers there are two copies, and graphql refuses "another module or realm".
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    setupFiles: ['tests/support/set-up.ts'],
    pool: 'forks',
    isolate: false, // a platform in a warm process starts in 2 s of work instead of 7; what a file changes in the process, it puts back
    restoreMocks: true,
    maxWorkers: 2, // each file's platform is a process's worth of memory, and CI has two cores
    testTimeout: 60_000, // a shared machine may be slow for a while, and a failure by the clock alone says nothing
    hookTimeout: 240_000, // the first platform of a run migrates the template database
    teardownTimeout: 30_000,
    env: { APOLLO_TELEMETRY_DISABLED: 'true' }, // before construction, else ApolloGateway probes cloud metadata addresses
  },
});
