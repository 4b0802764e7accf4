import type { Caller } from '../../../runtime/request/caller.js';

/** Service tokens only: no user token, whatever its scopes or role. Source: spec 1, Authentication 9; intelligence 4. */
export const READERS = { service: 'admin:ai' } as const;
/** Only clients behind which a person stands: no internal client, whatever its scopes, may apply what the loop proposes. Source: intelligence 4. */
export const GOVERNORS = { service: 'admin:ai', internal: [] } as const;
export const LOOP_RUNNERS = { service: 'admin:ai', internal: ['workflow'] } as const;
export const METRIC_READERS = { service: 'admin:ai', internal: ['workflow', 'platform'] } as const;
export const GATE_READERS = { service: 'admin:ai', internal: ['platform'] } as const;

/** Internal clients of other services read what the safe views show. Source: spec 1, Personal health data. */
export const seesAll = ({ caller }: { caller: Caller }): boolean => caller.serviceSlug === null || caller.serviceSlug === 'intelligence';
