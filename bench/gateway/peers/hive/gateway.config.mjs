/** Hive Gateway as in the public gateways benchmark, with its Rust planner. DEDUPE=1: equal requests under way are answered by one execution. */
import { defineConfig } from '@graphql-hive/gateway';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';

export const gatewayConfig = defineConfig({
  unifiedGraphHandler,
  ...(process.env.DEDUPE && { inboundInflightRequestDeduplication: true }),
  logging: 'error',
});
