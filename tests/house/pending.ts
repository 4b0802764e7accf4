import { SLUGS, type Slug } from '../../events/slugs.js';

/**
 * What later issues owe. This file may only shrink: a test refuses an entry that is there already, and nothing may be added.
 */

/** Services that do not exist yet. */
export const PENDING_SERVICES: readonly Slug[] = SLUGS.filter(
  slug => !['identity', 'platform', 'clinical', 'webhooks', 'events', 'entitlements', 'jobs', 'intelligence', 'workflow'].includes(slug),
);

/** Documented endpoints of services that exist, not built yet. */
export const PENDING_ENDPOINTS: Readonly<Partial<Record<Slug, readonly string[]>>> = {};

/** Event types of services that exist, which nobody emits yet. Those of services in `PENDING_SERVICES` are owed with them. */
export const PENDING_EVENTS: readonly string[] = [];

/** Services whose rooms are not yet as architecture 1 says. */
export const PENDING_ROOMS: readonly Slug[] = SLUGS.filter(slug => !PENDING_SERVICES.includes(slug));

/** Files that import each other in a circle, to be opened. */
export const PENDING_CIRCLES: readonly string[] = [
  'events/consumer.ts',
  'events/dead-letters.ts',
  'events/handling.ts',
  'rest-adapter/shape.ts',
  'rest-adapter/wire.ts',
  'subgraphs/identity/native/oidc-provider/adapter.ts',
  'subgraphs/identity/native/oidc-provider/artifacts.ts',
  'subgraphs/identity/native/oidc-provider/assertions.ts',
  'subgraphs/identity/native/oidc-provider/authorization.ts',
  'subgraphs/identity/native/oidc-provider/engine.ts',
  'subgraphs/identity/native/oidc-provider/exchange.ts',
  'subgraphs/identity/native/oidc-provider/policy.ts',
  'subgraphs/identity/native/oidc-provider/user-token.ts',
  'subgraphs/identity/ports/blob-store.ts',
  'subgraphs/identity/ports/inspection.ts',
  'subgraphs/identity/ports/s3.ts',
  'subgraphs/intelligence/commands/analyze.ts',
  'subgraphs/intelligence/queries/challenger.ts',
  'subgraphs/webhooks/workers/job-recover.ts',
  'subgraphs/webhooks/workers/job-replay.ts',
  'subgraphs/webhooks/workers/jobs.ts',
];
