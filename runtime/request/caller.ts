import { adminScopeOf, type Slug } from '../../events/slugs.js';

/** Who calls, after the token has been verified. Source: identity A3.4. */
export interface Caller {
  kind: 'anonymous' | 'service' | 'user' | 'system';
  /** OAuth client; for `system` the service's own slug. */
  clientId: string;
  /** The user of a user token. */
  userId: string | null;
  scopes: ReadonlySet<string>;
  /** Staff only; satisfied by prefix, see {@link holdsPermission}. */
  permissions: readonly string[];
  roles: readonly string[];
  firstParty: boolean;
  /** Set for the internal client `svc-<slug>`. */
  serviceSlug: Slug | null;
  brandId: string | null;
  jti: string | null;
  sid: string | null;
  gid: string | null;
  csi: string | null;
  /** Epoch seconds. */
  authTime: number | null;
  issuedAt: number | null;
  expiresAt: number | null;
  amr: readonly string[];
  /** RFC 8693 `act`, outermost first. */
  actorChain: readonly string[];
}

const NOBODY: Caller = {
  kind: 'anonymous',
  clientId: '',
  userId: null,
  scopes: new Set(),
  permissions: [],
  roles: [],
  firstParty: false,
  serviceSlug: null,
  brandId: null,
  jti: null,
  sid: null,
  gid: null,
  csi: null,
  authTime: null,
  issuedAt: null,
  expiresAt: null,
  amr: [],
  actorChain: [],
};

export const ANONYMOUS: Caller = Object.freeze(NOBODY);

/** The service itself: timers, consumers, seeds. Passes no access rule, because it calls no operation. */
export const systemCaller = (slug: Slug): Caller => ({ ...NOBODY, kind: 'system', clientId: `svc-${slug}`, serviceSlug: slug });

/** A service's internal client, with the scope of its own service alone: for what a process asks a service that it hosts, without a token. */
export const internalCaller = (slug: Slug): Caller => ({
  ...systemCaller(slug),
  kind: 'service',
  scopes: new Set([adminScopeOf(slug)]),
  firstParty: true,
});

export const isStaff = (caller: Caller): boolean => caller.kind === 'user' && caller.permissions.length > 0;

/** `admin:payments` satisfies `admin:payments:refund`; `admin:payments:read` satisfies only itself. Source: identity A8. */
export const holdsPermission = (caller: Caller, needed: string): boolean =>
  caller.kind === 'user' && caller.permissions.some(held => needed === held || needed.startsWith(`${held}:`));

/** Actor of audit rows and events: `user:<id>`, `staff:<id>`, `service:<client>` or `system:<slug>`. Source: identity A10. */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'user') return `${isStaff(caller) ? 'staff' : 'user'}:${caller.userId}`;
  return caller.kind === 'service' ? `service:${caller.clientId}` : `${caller.kind}:${caller.clientId}`;
}
