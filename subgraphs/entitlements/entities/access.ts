/** Own entitlements, or anybody's for services and support. Source: entitlements 4. */
export const ASKERS = {
  service: 'admin:entitlements|admin:identity',
  user: 'read:entitlements',
  staff: 'admin:entitlements:read',
} as const;

/** Who may look behind the answers: features, overrides and their reasons. */
export const READERS = {
  service: 'admin:entitlements',
  staff: 'admin:entitlements:read|admin:entitlements:feature:write|admin:entitlements:override:write',
} as const;

export const FEATURE_WRITERS = { service: 'admin:entitlements', staff: 'admin:entitlements:feature:write' } as const;
export const OVERRIDE_WRITERS = { service: 'admin:entitlements', staff: 'admin:entitlements:override:write' } as const;

/** Services that count and ask on behalf of their users. */
export const METERING = { service: 'admin:entitlements' } as const;
export const CACHE_OPERATORS = { service: 'admin:entitlements', staff: 'admin:entitlements:cache' } as const;
export const SIMULATORS = { service: 'admin:entitlements', staff: 'admin:entitlements:read' } as const;

/** What a tier gives may be read by whoever is signed in. */
export const ANYBODY = { service: '*', user: '*', staff: '*' } as const;
