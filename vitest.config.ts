import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.js';

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
    maxWorkers: Number(process.env.TEST_WORKERS ?? 2), // each is a process with a platform's memory and 24 of a server's 100 connections
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000, // a shared machine may be slow for a while, and a failure by the clock alone says nothing
    hookTimeout: 480_000, // the first platform of a run migrates the template database; a slow machine took 4 minutes for two processes
    teardownTimeout: 30_000,
    env: { APOLLO_TELEMETRY_DISABLED: 'true' }, // before construction, else ApolloGateway probes cloud metadata addresses
  },
});
